package io.railhead.gateway.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.cluster.LoopbackAddresses;
import io.railhead.os.RequiresDirectFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * docs/metrics.md says of each metric what {@code /metrics} says: its name, type and meaning. Its
 * labels are written there by hand, and held against what is seen here.
 * {@code -Drailhead.golden=write} writes the rest anew.
 */
@RequiresDirectFiles
class MetricsReferenceIT {
    private static final Path REFERENCE = Path.of("../docs/metrics.md");
    private static final Pattern ROW = Pattern
            .compile("^\\| `(railhead_\\w+)` \\|[^|]*\\| ([^|]*) \\|.*$");
    private static final Pattern HELP = Pattern.compile("^# HELP (railhead_\\w+) (.*)$");
    private static final Pattern TYPE = Pattern.compile("^# TYPE (railhead_\\w+) (\\w+)$");
    private static final Pattern SAMPLE = Pattern.compile("^(railhead_\\w+)(?:\\{(.*)})? .*$");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"[^\"]*\"");
    /** Of the format's own. */
    private static final List<String> NO_LABELS = List.of("le", "quantile");
    private static final String UNKNOWN = "?";

    @TempDir
    private Path folder;

    private final Map<String, String> meanings = new TreeMap<>();
    private final Map<String, String> types = new HashMap<>();
    private final Map<String, String> labels = new HashMap<>();

    /** What is asked here has samples of most that has labels. */
    private void look() {
        try (FakeStore store = new FakeStore();
                TestGateway gateway = TestGateway.over(store)
                        .config("cache: {disk: {paths: [\"" + folder.resolve("disk")
                                + "\"], size: 130MiB}}\n"
                                + LoopbackAddresses.cluster())
                        .start()) {
            store.put("/b/key", new byte[100_000]);
            TestClient client = gateway.client();
            for (int i = 0; i < 3; i++) {
                assertThat(client.get("/b/key").statusCode()).isEqualTo(200);
            }
            assertThat(client.put("/b/other", new byte[10]).statusCode()).isEqualTo(200);
            assertThat(client.get("/b/absent").statusCode()).isEqualTo(404);
            try (TestPeer peer = new TestPeer(client, "SK", 1 << 20)) {
                assertThat(client.get("/b/key", peer.headers(0, 1 << 20)).statusCode())
                        .isEqualTo(200);
            }
            gateway.metrics().lines().forEach(this::read);
        }
        lookAtWriteBack();
    }

    /** A cluster refuses it. */
    private void lookAtWriteBack() {
        try (FakeStore store = new FakeStore();
                TestGateway gateway = TestGateway.over(store)
                        .config("write_back: {path: \"" + folder.resolve("log")
                                + "\", size: 64MiB}")
                        .start()) {
            gateway.metrics()
                    .lines()
                    .filter(line -> line.contains("railhead_write_back_"))
                    .forEach(this::read);
        }
    }

    private void read(String line) {
        Matcher help = HELP.matcher(line);
        Matcher type = TYPE.matcher(line);
        Matcher sample = SAMPLE.matcher(line);
        if (help.matches() && !help.group(1).endsWith("_created")) {
            meanings.put(help.group(1), help.group(2));
        } else if (type.matches()) {
            types.put(type.group(1), type.group(2));
        } else if (sample.matches()) {
            labels.put(sample.group(1).replaceFirst("_(bucket|count|sum)$", ""),
                    LABEL.matcher(Objects.requireNonNullElse(sample.group(2), ""))
                            .results()
                            .map(label -> label.group(1))
                            .filter(label -> !NO_LABELS.contains(label))
                            .map(label -> "`" + label + "`")
                            .collect(Collectors.joining(", ")));
        }
    }

    @Test
    void itIsWhatTheGatewayTells() throws IOException {
        look();
        String found = Files.readString(REFERENCE);
        String expected = written(found);
        if ("write".equals(System.getProperty("railhead.golden"))) {
            Files.writeString(REFERENCE, expected);
        }
        assertThat(Files.readString(REFERENCE))
                .as("docs/metrics.md; write it with -Drailhead.golden=write")
                .isEqualTo(expected);
        assertThat(expected.lines())
                .as("labels that nobody has written down")
                .noneMatch(line -> line.contains("| " + UNKNOWN + " |"));
    }

    private String written(String found) {
        Map<String, String> byHand = new HashMap<>();
        StringBuilder written = new StringBuilder();
        boolean isWritten = false;
        for (String line : found.lines().toList()) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                byHand.put(row.group(1), row.group(2));
            }
        }
        for (String line : found.lines().toList()) {
            if (!ROW.matcher(line).matches()) {
                written.append(line).append('\n');
            } else if (!isWritten) {
                isWritten = true;
                meanings.keySet().forEach(name -> written.append(row(name, byHand)));
            }
        }
        return written.toString();
    }

    private String row(String name, Map<String, String> byHand) {
        String seen = labels.getOrDefault(name, byHand.getOrDefault(name, UNKNOWN));
        return "| `%s` | %s | %s | %s |\n".formatted(name, types.get(name),
                seen.isEmpty() ? "–" : seen, meanings.get(name));
    }
}
