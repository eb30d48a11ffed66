package io.railhead.helm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Prints once what the tests of all modules skipped, and why: this module's are the last of a
 * build. The others' reasons come from their reports.
 */
public final class SkippedTests implements LauncherSessionListener {
    private static final Path ROOT = Path.of("..");
    /** A condition's reason is an attribute, an assumption's the first line of the text. */
    private static final Pattern SKIPPED = Pattern.compile(
            "<skipped (?:message=\"([^\"]*)\"|type=\"[^\"]*\"><!\\[CDATA\\[[\\w.$]+: (.*?)(?:\\]\\]>|\n))");
    private static final String MAVEN = "plexus-classworlds";

    /** How many tests, by reason. */
    private final Map<String, Integer> reasons = new ConcurrentSkipListMap<>();

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        session.getLauncher().registerTestExecutionListeners(new TestExecutionListener() {
            @Override
            public void executionSkipped(TestIdentifier test, String reason) {
                reasons.merge(reason, 1, Integer::sum);
            }

            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
                    reasons.merge(result.getThrowable().map(Throwable::getMessage).orElse(""), 1,
                            Integer::sum);
                }
            }
        });
    }

    @Override
    public void launcherSessionClosed(LauncherSession session) {
        Optional<Instant> build = buildStart();
        if (build.isEmpty()) {
            return;
        }
        try (Stream<Path> files = Files.walk(ROOT, 5)) {
            files.filter(file -> isReport(file, build.get()))
                    .forEach(file -> reasonsIn(read(file))
                            .forEach((why, count) -> reasons.merge(why, count, Integer::sum)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        System.out.print(told(reasons));
    }

    /** Empty where no Maven runs this. */
    private static Optional<Instant> buildStart() {
        return Stream.iterate(ProcessHandle.current().parent(), Optional::isPresent,
                process -> process.flatMap(ProcessHandle::parent))
                .flatMap(Optional::stream)
                .map(ProcessHandle::info)
                .filter(info -> info.commandLine().orElse("").contains(MAVEN))
                .findFirst()
                .flatMap(ProcessHandle.Info::startInstant);
    }

    private static boolean isReport(Path file, Instant build) {
        try {
            return file.getFileName().toString().startsWith("TEST-")
                    && file.toString().endsWith(".xml")
                    && file.toString().contains("-reports")
                    && Files.getLastModifiedTime(file).toInstant().isAfter(build);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How many tests of a report, by reason. */
    static Map<String, Integer> reasonsIn(String report) {
        Map<String, Integer> found = new TreeMap<>();
        SKIPPED.matcher(report)
                .results()
                .map(SkippedTests::text)
                .forEach(why -> found.merge(why, 1, Integer::sum));
        return found;
    }

    private static String text(MatchResult skipped) {
        if (skipped.group(2) != null) {
            return skipped.group(2);
        }
        return skipped.group(1)
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&apos;", "'")
                .replace("&#10;", " ")
                .replace("&amp;", "&");
    }

    /** Lines for a person; empty where nothing was skipped. */
    static String told(Map<String, Integer> reasons) {
        StringBuilder lines = new StringBuilder();
        reasons.forEach((why, count) -> lines.append(
                "  %4d %s%n".formatted(count, why.replace("Assumption failed: ", ""))));
        return lines.isEmpty()
                ? ""
                : "%nSkipped tests, and what they need:%n%s%n".formatted(lines);
    }
}
