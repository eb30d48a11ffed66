package io.railhead.cli.bench;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.JsonLineProcess;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.List;
import java.util.Map;

/** The link's process, from the bench's side. One thread. */
final class BenchLink {
    private final Process process;
    private final JsonLineProcess link;
    private final int port;

    private BenchLink(Process process, Children children) throws IOException {
        this.process = process;
        link = new JsonLineProcess(process, "link", children);
        port = link.next(Integer.class);
    }

    static BenchLink start(int storePort, MissesPlan plan, Children children) throws IOException {
        List<String> command = Children.railhead(List.of("-XX:+UseSerialGC", "-Xmx128m"),
                "bench-link", "--store", Integer.toString(storePort), "--rate",
                Long.toString(plan.bitsPerSecond()), "--latency",
                Double.toString(plan.latencyMillis()));
        return new BenchLink(children.start("link", Cores.free().onServer(command), Map.of(),
                Redirect.PIPE), children);
    }

    int port() {
        return port;
    }

    long pid() {
        return process.pid();
    }

    ThrottledProxy.Passed passed() throws IOException {
        return link.ask("passed", ThrottledProxy.Passed.class);
    }
}
