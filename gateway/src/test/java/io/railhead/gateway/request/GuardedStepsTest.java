package io.railhead.gateway.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Holds the sources to one rule: whatever is thrown on the way to an answer is told to somebody.
 */
final class GuardedStepsTest {
    private static final Path SOURCES = Path.of("src/main/java");
    /** Matches catches that let an Error pass, which leaves somebody waiting. */
    private static final Pattern LETS_ERRORS_PASS = Pattern
            .compile("catch \\((?:[^)]*\\| )?(?:RuntimeException|Exception) \\w+\\)");
    private static final Pattern CALLED_BY_VERTX = Pattern.compile(
            "\\.(?:handler|endHandler|requestHandler|runOnContext)\\("
                    + "|request\\.exceptionHandler\\(");
    /** At the start nobody waits for an answer; of what a parser throws its caller makes one. */
    private static final Set<String> TRANSLATING = Set.of("ShutdownStack.java", "S3Listener.java",
            "TlsOptions.java", "FileWatch.java", "DeletionList.java", "Listing.java",
            "ClusterOpening.java");
    /** Classes whose every callback runs under {@link io.railhead.gateway.s3.Guard}. */
    private static final Set<String> GUARDED = Set.of("HttpExchange.java", "ChannelExchange.java",
            "WarmRead.java", "AdminResponse.java", "AdminApi.java", "HealthListener.java",
            "AdminListener.java", "S3Listener.java", "OperatorPort.java", "FillPort.java",
            "PeerFetch.java", "PeerFills.java");

    private static List<String> found(Pattern pattern, Set<String> except) throws IOException {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !except.contains(file.getFileName().toString()))
                    .flatMap(file -> lines(file, pattern))
                    .toList();
        }
    }

    private static Stream<String> lines(Path file, Pattern pattern) {
        try {
            return Files.readAllLines(file)
                    .stream()
                    .filter(line -> pattern.matcher(line).find())
                    .map(line -> file.getFileName() + ": " + line.strip());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void nothingThatIsCaughtLetsAnErrorPass() throws IOException {
        assertThat(found(LETS_ERRORS_PASS, TRANSLATING)).isEmpty();
    }

    @Test
    void whatVertxCallsRunsUnderTheGuard() throws IOException {
        assertThat(found(CALLED_BY_VERTX, GUARDED)).isEmpty();
    }
}
