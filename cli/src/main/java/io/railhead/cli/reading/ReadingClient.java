package io.railhead.cli.reading;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Json;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The client process, seen from the command that started it. One thread. */
final class ReadingClient {
    private final BufferedWriter questions;
    private final BufferedReader answers;
    private final Children children;

    private ReadingClient(Process process, Children children) {
        questions = process.outputWriter(StandardCharsets.UTF_8);
        answers = process.inputReader(StandardCharsets.UTF_8);
        this.children = children;
    }

    static ReadingClient start(Origin origin, Children children) throws IOException {
        Path file = Files.writeString(children.folder().resolve("manifest.json"),
                Json.line(origin.manifest()));
        return new ReadingClient(children.java("client", List.of(
                "--enable-native-access=ALL-UNNAMED", "-Xmx256m", "-cp",
                System.getProperty("java.class.path"), "io.railhead.cli.Main", "reading-client",
                "--manifest", file.toString()), origin.environment(), Redirect.PIPE), children);
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
