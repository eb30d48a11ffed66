package io.railhead.cli;

import io.railhead.client.ClientConfig;
import io.railhead.client.Fallback;
import io.railhead.client.Via;
import picocli.CommandLine.Option;

/** The options for the transport and its fallback. */
final class ViaOptions {
    @Option(names = "--via", paramLabel = "http|token|loopback|verbs", description = "How the bytes move: in HTTP bodies; into this host's memory, asked for by a token in HTTP; the same, asked for on a channel; by RDMA (${DEFAULT-VALUE}).", defaultValue = "http")
    private Via via = Via.HTTP;

    @Option(names = "--no-fallback", description = "Fail if --via is not available, instead of falling back to HTTP with a warning.")
    private boolean noFallback;

    Via via() {
        return via;
    }

    ClientConfig of(ClientConfig config) {
        return config.with(via).with(noFallback ? Fallback.NONE : Fallback.HTTP);
    }
}
