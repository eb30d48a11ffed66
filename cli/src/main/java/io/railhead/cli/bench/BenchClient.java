package io.railhead.cli.bench;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.JsonLineProcess;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.List;
import java.util.Map;

/** The client process, from the bench's side. One thread. */
final class BenchClient {
    private final JsonLineProcess process;

    private BenchClient(JsonLineProcess process) {
        this.process = process;
    }

    static BenchClient start(Cores cores, Children children) throws IOException {
        List<String> command = Children.railhead(List.of("-XX:+UseSerialGC", "-Xmx256m"),
                "bench-client");
        return new BenchClient(new JsonLineProcess(children.start("client", cores.onClient(command),
                Map.of(), Redirect.PIPE), "client", children));
    }

    RunResult measure(MeasuredRun measuredRun) throws IOException {
        return process.ask(measuredRun, RunResult.class);
    }
}
