package io.railhead.cli.bench;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Respondent;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.List;
import java.util.Map;

/** The client process, from the bench's side. One thread. */
final class BenchClient {
    private final Respondent process;

    private BenchClient(Respondent process) {
        this.process = process;
    }

    static BenchClient start(Cores cores, Children children) throws IOException {
        List<String> command = Children.railhead(List.of("-XX:+UseSerialGC", "-Xmx256m"),
                "bench-client");
        return new BenchClient(new Respondent(children.start("client", cores.onClient(command),
                Map.of(), Redirect.PIPE), "client", children));
    }

    Measured measure(Turn turn) throws IOException {
        return process.ask(turn, Measured.class);
    }
}
