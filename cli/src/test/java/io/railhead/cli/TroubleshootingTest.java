package io.railhead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.TransferException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What docs/troubleshooting.md quotes is still said, and no reason of a decline is left out. */
class TroubleshootingTest {
    private static final Path ROOT = Path.of("..");
    private static final String REASONS = "## Why a request was not served by RDMA";
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\|");
    private static final Pattern JOINT = Pattern.compile("\"\\s*\\+\\s*\"");
    /** Less than this stands everywhere. */
    private static final int LEAST_CHARACTERS = 8;
    private static final List<Pattern> DECLINES = List.of(
            Pattern.compile("decline\\w*\\([^;\"]*\"([a-z0-9_-]+)\"\\s*\\)"),
            Pattern.compile("rdmaDeclined\\.labels\\(\"([a-z0-9_-]+)\"\\)"),
            Pattern.compile("Declined\\(this, \"([a-z0-9_-]+)\"\\)"),
            Pattern.compile("new UnservedDialect\\(\"([a-z0-9_-]+)\""),
            Pattern.compile(
                    "String name\\(\\) \\{\\s*return \"([a-z0-9_-]+)\"(?=.*Declined\\(this, name)",
                    Pattern.DOTALL),
            Pattern.compile("CANCELLED = \"([a-z0-9_-]+)\""));
    /** Methods that name a reason, or return null. */
    private static final Pattern NAMING = Pattern
            .compile("String (?:unusable|findRefusal)\\(.*?\n    }\n", Pattern.DOTALL);
    private static final Pattern NAMED = Pattern.compile("\"([a-z0-9_-]+)\"");

    private static String guide;
    private static List<String> sources;

    @BeforeAll
    static void read() throws IOException {
        guide = Files.readString(ROOT.resolve("docs/troubleshooting.md"));
        sources = new ArrayList<>();
        sources.add(Files.readString(ROOT.resolve("railhead")));
        try (Stream<Path> files = Files.walk(ROOT)) {
            for (Path file : files.filter(TroubleshootingTest::isSource).toList()) {
                sources.add(joined(Files.readString(file)));
            }
        }
    }

    private static boolean isSource(Path file) {
        String name = file.toString();
        return (name.contains("/src/main/java/") && name.endsWith(".java"))
                || (name.contains("/src/main/resources/") && name.endsWith(".js"));
    }

    /** A text that is broken over lines is one text. */
    private static String joined(String source) {
        return JOINT.matcher(source).replaceAll("").replace("\\\"", "\"");
    }

    @Test
    void everyMessageIsStillSaid() {
        List<String> messages = rows(guide.replace(reasonSection(), ""));
        assertThat(messages).hasSizeGreaterThan(80);
        assertThat(messages).allSatisfy(message -> {
            List<String> parts = List.of(message.split("\\s*…\\s*"));
            assertThat(String.join("", parts)).hasSizeGreaterThanOrEqualTo(LEAST_CHARACTERS);
            assertThat(sources).anyMatch(source -> parts.stream().allMatch(source::contains));
        });
    }

    @Test
    void everyReasonOfADeclineHasARow() {
        Set<String> reasons = reasons();
        assertThat(reasons).contains("rule", "permission", "slow", "hipobj", "ofi1", "meta",
                "unknown_key",
                "cancelled", "silent");
        assertThat(rows(reasonSection())).doesNotHaveDuplicates()
                .containsAll(reasons)
                .allMatch(reason -> reasons.contains(reason) || isSaid(reason));
    }

    private static boolean isSaid(String word) {
        return sources.stream().anyMatch(source -> source.contains('"' + word + '"'));
    }

    private static List<String> rows(String text) {
        return ROW.matcher(text).results().map(row -> row.group(1)).toList();
    }

    private static String reasonSection() {
        int from = guide.indexOf(REASONS);
        return guide.substring(from, guide.indexOf("\n## ", from));
    }

    private static Set<String> reasons() {
        Set<String> found = new TreeSet<>();
        for (EndReason reason : EndReason.values()) {
            found.add(reason.word());
        }
        for (TransferException.Reason reason : TransferException.Reason.values()) {
            found.add(reason.name().toLowerCase(Locale.ROOT));
        }
        for (String source : sources) {
            DECLINES.forEach(pattern -> addAll(pattern.matcher(source), found));
            NAMING.matcher(source)
                    .results()
                    .forEach(method -> addAll(NAMED.matcher(method.group()), found));
        }
        return found;
    }

    private static void addAll(Matcher matcher, Set<String> found) {
        matcher.results().forEach(match -> found.add(match.group(1)));
    }
}
