package io.railhead.rdma.verbs;

import io.railhead.os.verbs.VerbsProvider;
import io.railhead.rdma.verbs.VerbsConfig.Polling;
import java.net.InetAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a peer connects and works.
 *
 * @param source this side's address, which names its device; the route's own if null
 * @param maxRequests as the HTTP open answered: so many answers may be on their way at a time
 * @param timeout of each call
 */
public record VerbsPeerConfig(VerbsProvider provider, @Nullable InetAddress source,
        QueuePairConfig queuePairs, Duration spin, int maxRequests, Duration timeout) {
    private static final int COMPLETIONS = 4096;

    /** With the defaults, for a gateway that grants as many requests. */
    public static VerbsPeerConfig of(int maxRequests, Duration timeout) {
        return new VerbsPeerConfig(VerbsProvider.FOREIGN, null, QueuePairConfig.DEFAULT,
                Duration.ofNanos(50_000), maxRequests, timeout);
    }

    public VerbsPeerConfig from(InetAddress other) {
        return new VerbsPeerConfig(provider, other, queuePairs, spin, maxRequests, timeout);
    }

    Polling polling() {
        return new Polling(1, spin, COMPLETIONS);
    }
}
