package io.railhead.cli.demo;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Json;
import io.railhead.cli.local.LocalStore;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The client process, from the demo's side. One thread. */
final class DemoClient {
    private final BufferedWriter questions;
    private final BufferedReader answers;
    private final Children children;

    private DemoClient(Process process, Children children) {
        questions = process.outputWriter(StandardCharsets.UTF_8);
        answers = process.inputReader(StandardCharsets.UTF_8);
        this.children = children;
    }

    static DemoClient start(Manifest manifest, LocalStore.Keys keys, Children children)
            throws IOException {
        Path file = Files.writeString(children.folder().resolve("manifest.json"),
                Json.line(manifest));
        return new DemoClient(children.java("client", List.of(
                "--enable-native-access=ALL-UNNAMED", "-Xmx256m", "-cp",
                System.getProperty("java.class.path"), "io.railhead.cli.Main", "demo-client",
                "--manifest", file.toString()), keys.environment(), Redirect.PIPE), children);
    }

    Measured read(Reading reading) throws IOException {
        questions.write(Json.line(reading));
        questions.newLine();
        questions.flush();
        String line = answers.readLine();
        if (line == null) {
            throw new IOException("the client ended: " + children.lastWords("client"));
        }
        Measured measured = Json.read(line, Measured.class);
        if (!measured.problem().isEmpty()) {
            throw new IOException(measured.problem());
        }
        return measured;
    }
}
