package io.railhead.cli.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Programs that may be installed here. */
final class Programs {
    /** Where servers are, though a user's PATH may not say so. */
    private static final List<String> MORE = List.of("/usr/sbin", "/usr/local/sbin", "/sbin");

    private Programs() {}

    static @Nullable Path find(String name) {
        Stream<String> path = Stream.of(System.getenv()
                .getOrDefault("PATH", "/usr/bin:/bin")
                .split(":", -1));
        return Stream.concat(path, MORE.stream())
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    /** The first line that it says of itself. */
    static String version(Path program, String option) throws IOException {
        try (Stream<String> lines = output(List.of(program.toString(), option)).lines()) {
            return lines.findFirst().orElse("unknown").strip();
        }
    }

    /** All that a command says until it ends. */
    static String output(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
}
