package io.railhead.cli.bench;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Json;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** The link's process, from the bench's side. One thread. */
final class BenchLink {
    private final Process process;
    private final BufferedWriter questions;
    private final BufferedReader answers;
    private final Children children;
    private final int port;

    private BenchLink(Process process, Children children) throws IOException {
        this.process = process;
        questions = process.outputWriter(StandardCharsets.UTF_8);
        answers = process.inputReader(StandardCharsets.UTF_8);
        this.children = children;
        port = Integer.parseInt(line());
    }

    static BenchLink start(int storePort, MissesPlan plan, Children children) throws IOException {
        List<String> command = List.of(Children.javaProgram(), "-XX:+UseSerialGC", "-Xmx128m",
                "-cp", System.getProperty("java.class.path"), "io.railhead.cli.Main", "bench-link",
                "--store", Integer.toString(storePort), "--rate",
                Long.toString(plan.bitsPerSecond()), "--latency",
                Double.toString(plan.latencyMillis()));
        return new BenchLink(children.start("link", Cores.free().onServer(command), Map.of(),
                Redirect.PIPE), children);
    }

    private String line() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new IOException("the link ended: " + children.lastWords("link"));
        }
        return line;
    }

    int port() {
        return port;
    }

    long pid() {
        return process.pid();
    }

    Link.Passed passed() throws IOException {
        questions.newLine();
        questions.flush();
        return Json.read(line(), Link.Passed.class);
    }
}
