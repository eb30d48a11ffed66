package io.railhead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher in a folder without sources, over a JDK that only says how it was started. */
class LauncherTest {
    private static final Path LAUNCHER = Path.of("..", "railhead").toAbsolutePath().normalize();

    @TempDir
    Path folder;

    private Path jdk;

    @BeforeEach
    void installBesideAFakeJdk() throws IOException {
        Path home = Files.createDirectories(folder.resolve("home with blank"));
        Files.copy(LAUNCHER, home.resolve("railhead"), StandardCopyOption.COPY_ATTRIBUTES);
        Files.createDirectories(home.resolve("cli/target/lib"));
        Files.write(home.resolve("cli/target/cli-1.jar"), new byte[0]);
        jdk = folder.resolve("jdk");
        Files.createDirectories(jdk.resolve("bin"));
        Path java = Files.writeString(jdk.resolve("bin/java"),
                "#!/bin/sh\nfor a; do echo \"$a\"; done\n");
        assertThat(java.toFile().setExecutable(true)).isTrue();
        Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"25.0.1\"\n");
    }

    @Test
    void argumentsArriveAsTheyAre() throws Exception {
        Outcome outcome = run(folder.resolve("home with blank/railhead"), "get", "a b", "*");

        assertThat(outcome.status).isZero();
        assertThat(outcome.output.lines().toList()).contains("--enable-native-access=ALL-UNNAMED",
                "-Drailhead.home=" + folder.toRealPath().resolve("home with blank"))
                .endsWith("io.railhead.cli.Main", "get", "a b", "*");
    }

    @Test
    void itIsFoundThroughASymlinkFromAnywhere() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("link"),
                Path.of("home with blank/railhead"));

        assertThat(run(link).output).contains("home with blank/cli/target/cli-1.jar");
    }

    @Test
    void theImagesFoldersOfJarsAreFound() throws Exception {
        Path home = folder.toRealPath().resolve("home with blank");
        Files.createDirectories(home.resolve("libs"));
        Files.createDirectories(home.resolve("classpath"));

        assertThat(run(home.resolve("railhead")).output.lines())
                .contains(home + "/classpath/*:" + home + "/libs/*");
    }

    private Outcome run(Path launcher, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("sh", launcher.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(Path.of("/").toFile())
                .redirectErrorStream(true);
        builder.environment().putAll(Map.of("RAILHEAD_JAVA_HOME", jdk.toString()));
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Outcome(process.exitValue(), output);
    }

    private record Outcome(int status, String output) {}
}
