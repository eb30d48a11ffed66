package io.railhead.protocol.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Jazzer at work on one target, in a process of its own: its agent and its use of Unsafe are
 * nothing for the tests' JVM. Inputs that it keeps and those that broke the target, with its log,
 * are left in {@code target/fuzz/NAME}.
 */
final class JazzerRun {
    private final FuzzTarget target;
    private final Path work;

    JazzerRun(FuzzTarget target) {
        this.target = target;
        this.work = Path.of("target", "fuzz", target.name());
    }

    Path work() {
        return work;
    }

    /** Jazzer's exit status: 0 if it found nothing in the time. */
    int run(int seconds) throws IOException, InterruptedException {
        Path found = Files.createDirectories(work.resolve("found"));
        String classpath = System.getProperty("surefire.test.class.path",
                System.getProperty("java.class.path"));
        return new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-cp", classpath,
                "com.code_intelligence.jazzer.Jazzer",
                "--target_class=" + target.harness().getName(),
                "--instrumentation_includes=io.railhead.**",
                "--custom_hook_includes=io.railhead.**", "--reproducer_path=" + work,
                "-max_total_time=" + seconds, "-timeout=60", "-max_len=16384",
                "-artifact_prefix=" + work + "/", found.toString(), target.corpus().toString())
                .redirectErrorStream(true)
                .redirectOutput(work.resolve("log").toFile())
                .start()
                .waitFor();
    }
}
