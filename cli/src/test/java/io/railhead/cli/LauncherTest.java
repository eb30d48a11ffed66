package io.railhead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher in a folder without sources, over a JDK that only says how it was started. */
class LauncherTest {
    private static final Path LAUNCHER = Path.of("..", "railhead").toAbsolutePath().normalize();

    @TempDir
    Path folder;

    private final Map<String, String> environment = new HashMap<>();
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
                """
                        #!/bin/sh
                        for a; do
                            echo "$a"
                            case $a in
                                -XX:AOTCacheOutput=*) made=${a#*=} ;;
                                -XX:-AOTAdapterCaching) portable=portably ;;
                                -XX:-AOTRecordTraining) unprofiled=unprofiled ;;
                            esac
                        done
                        [ -n "${made-}" ] || exit 0
                        here=$(dirname "$made")
                        if [ -e "$here/../../../broken" ]; then echo out of luck; exit 1; fi
                        echo "made ${portable-} ${unprofiled-} by $a" >"$made"
                        """);
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
        Path home = layOutAsInTheImage();
        Files.write(home.resolve("railhead.aot"), new byte[1]);

        assertThat(run(home.resolve("railhead")).output.lines()).contains(
                home + "/classpath/cli-1.jar:" + home + "/libs/B.jar:" + home + "/libs/a.jar",
                "-XX:AOTCache=" + home + "/railhead.aot");
    }

    @Test
    void anInstalledFoldersJarsStoreAndRuntimeAreItsOwn() throws Exception {
        Path home = layOutAsInTheImage();
        Files.createDirectories(home.resolve("java/bin"));
        Path java = home.resolve("java/bin/java");
        Files.writeString(java, """
                #!/bin/sh
                echo own runtime
                for a; do echo "$a"; done
                """);
        assertThat(java.toFile().setExecutable(true)).isTrue();
        Files.writeString(home.resolve("java/release"), "JAVA_VERSION=\"25.0.1\"\n");

        assertThat(run(home.resolve("railhead")).output.lines()).contains("own runtime",
                "-Drailhead.jars=" + home + "/libs",
                "-Drailhead.store=" + home + "/store/s3proxy.jar");
    }

    @Test
    void anInstalledFolderWithoutAnAotCacheDoesWithout() throws Exception {
        Path home = layOutAsInTheImage();

        assertThat(run(home.resolve("railhead")).output).doesNotContain("AOT");
        assertThat(home.resolve("railhead.aot")).doesNotExist();
    }

    @Test
    void theAotCacheIsMadeOnceAfterABuild() throws Exception {
        Path home = pretendSources();
        Path aot = home.resolve("cli/target/railhead.aot");

        Outcome first = run(home.resolve("railhead"), "ls");

        assertThat(first.output.lines().toList()).contains("-XX:AOTCache=" + aot)
                .endsWith("io.railhead.cli.Main", "ls");
        assertThat(first.output).contains("making cli/target/railhead.aot");
        assertThat(aot).hasContent("made portably unprofiled by train");
        assertThat(run(home.resolve("railhead"), "ls").output).doesNotContain("making")
                .contains("-XX:AOTCache=" + aot);
        Files.setLastModifiedTime(home.resolve("cli/target/lib/B.jar"),
                FileTime.from(Instant.now().plusSeconds(5)));
        assertThat(run(home.resolve("railhead"), "ls").output).contains("making");
        assertThat(names(home.resolve("cli/target"))).containsExactlyInAnyOrder("cli-1.jar", "lib",
                "s3proxy", "railhead.aot", "railhead.built");
    }

    @Test
    void anotherLauncherMakesAnAotCacheOfItsOwn() throws Exception {
        Path home = pretendSources();
        age(home.resolve("railhead"), 1);
        run(home.resolve("railhead"), "ls");
        assertThat(run(home.resolve("railhead"), "ls").output).doesNotContain("making");
        age(home.resolve("railhead"), -1);

        assertThat(run(home.resolve("railhead"), "ls").output).contains("making");
    }

    @Test
    void anotherJdkInTheSamePlaceGetsAnAotCacheOfItsOwn() throws Exception {
        Path home = pretendSources();
        run(home.resolve("railhead"), "ls");
        for (String file : List.of("railhead", "cli/target/cli-1.jar", "cli/target/lib/B.jar")) {
            age(home.resolve(file), 2);
        }
        assertThat(run(home.resolve("railhead"), "ls").output).doesNotContain("making");
        age(home.resolve("cli/target/railhead.aot"), 1);

        assertThat(run(home.resolve("railhead"), "ls").output).contains("making");
    }

    @Test
    void whereNoAotCacheCanBeMadeItIsTriedOnceAndTheCommandRuns() throws Exception {
        Path home = pretendSources();
        Files.writeString(home.resolve("broken"), "");

        Outcome first = run(home.resolve("railhead"), "ls");

        assertThat(first.status).isZero();
        assertThat(first.output).contains("it could not be made, starts take longer: out of luck")
                .doesNotContain("-XX:AOTCache=")
                .endsWith("ls\n");
        assertThat(run(home.resolve("railhead"), "ls").output).doesNotContain("made");
        assertThat(names(home.resolve("cli/target"))).containsExactlyInAnyOrder("cli-1.jar", "lib",
                "s3proxy", "railhead.aot", "railhead.built");
    }

    /** As the image's build has it. */
    @Test
    void whoeverHasAnAotCacheMadeGetsNoMachineCodeAndNoProfilesIntoIt() throws Exception {
        Path home = layOutAsInTheImage();

        assertThat(run(home.resolve("railhead"), "train").output)
                .contains("-XX:-AOTAdapterCaching", "-XX:-AOTRecordTraining");
        assertThat(run(home.resolve("railhead"), "serve").output)
                .doesNotContain("Adapter", "Training");
    }

    @Test
    void whoSetsTheJvmsSharingIsNotContradicted() throws Exception {
        Path home = layOutAsInTheImage();
        Files.write(home.resolve("railhead.aot"), new byte[1]);
        environment.put("JDK_JAVA_OPTIONS", "-Xmx1g -Xshare:off");

        assertThat(run(home.resolve("railhead")).output).doesNotContain("AOT");
    }

    @Test
    void optionsForTheJvmMayComeByAVariableOfRailheads() throws Exception {
        environment.put("RAILHEAD_JAVA_OPTIONS", "-Xmx1g  -Dwhere=/*");

        assertThat(run(folder.resolve("home with blank/railhead"), "ls", "*").output.lines()
                .toList()).containsSubsequence("-Xmx1g", "-Dwhere=/*", "-cp", "ls", "*");

        Path home = layOutAsInTheImage();
        Files.write(home.resolve("railhead.aot"), new byte[1]);
        environment.put("RAILHEAD_JAVA_OPTIONS", "-Xshare:off");
        assertThat(run(home.resolve("railhead")).output).doesNotContain("AOT");
    }

    private Path layOutAsInTheImage() throws IOException {
        Path home = folder.toRealPath().resolve("home with blank");
        Files.createDirectories(home.resolve("libs"));
        Files.createDirectories(home.resolve("classpath"));
        for (String jar : List.of("classpath/cli-1.jar", "libs/a.jar", "libs/B.jar")) {
            Files.write(home.resolve(jar), new byte[0]);
        }
        return home;
    }

    /** As after a build, of which there is nothing to do. */
    private Path pretendSources() throws IOException {
        Path home = folder.toRealPath().resolve("home with blank");
        Files.createDirectories(home.resolve("cli/target/s3proxy"));
        for (String file : List.of("pom.xml", "cli/target/lib/B.jar",
                "cli/target/s3proxy/s3proxy.jar", "cli/target/railhead.built")) {
            Files.write(home.resolve(file), new byte[0]);
        }
        return home;
    }

    private static void age(Path file, int hours) throws IOException {
        Files.setLastModifiedTime(file,
                FileTime.from(Instant.now().minus(hours, ChronoUnit.HOURS)));
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    private Outcome run(Path launcher, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("sh", launcher.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(Path.of("/").toFile())
                .redirectErrorStream(true);
        builder.environment()
                .keySet()
                .removeAll(
                        Set.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "RAILHEAD_JAVA_OPTIONS"));
        builder.environment().put("RAILHEAD_JAVA_HOME", jdk.toString());
        builder.environment().putAll(environment);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Outcome(process.exitValue(), output);
    }

    private record Outcome(int status, String output) {}
}
