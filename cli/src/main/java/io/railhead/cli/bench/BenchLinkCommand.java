package io.railhead.cli.bench;

import io.railhead.cli.local.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A {@link ThrottledProxy} as a process of its own: its port is the first line out; then for each
 * line in what has {@link ThrottledProxy.Passed passed}, until its input ends.
 */
@Command(name = "bench-link", hidden = true, description = "Stands for the network to a store.")
public final class BenchLinkCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--store", required = true)
    private int storePort;

    @Option(names = "--rate", required = true)
    private long bitsPerSecond;

    @Option(names = "--latency", required = true)
    private double latencyMillis;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        BufferedReader in = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (ThrottledProxy throttledProxy = new ThrottledProxy(storePort, bitsPerSecond,
                latencyMillis)) {
            out.println(throttledProxy.port());
            out.flush();
            while (in.readLine() != null) {
                out.println(Json.line(throttledProxy.passed()));
                out.flush();
            }
        }
        return 0;
    }
}
