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

/** The client process, from the bench's side. One thread. */
final class BenchClient {
    private final BufferedWriter questions;
    private final BufferedReader answers;
    private final Children children;

    private BenchClient(Process process, Children children) {
        questions = process.outputWriter(StandardCharsets.UTF_8);
        answers = process.inputReader(StandardCharsets.UTF_8);
        this.children = children;
    }

    static BenchClient start(Cores cores, Children children) throws IOException {
        List<String> command = List.of(Children.javaProgram(),
                "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xmx256m", "-cp",
                System.getProperty("java.class.path"), "io.railhead.cli.Main", "bench-client");
        return new BenchClient(children.start("client", cores.onClient(command), Map.of(),
                Redirect.PIPE), children);
    }

    Measured measure(Turn turn) throws IOException {
        questions.write(Json.line(turn));
        questions.newLine();
        questions.flush();
        String line = answers.readLine();
        if (line == null) {
            throw new IOException("the client ended: " + children.lastWords("client"));
        }
        return Json.read(line, Measured.class);
    }
}
