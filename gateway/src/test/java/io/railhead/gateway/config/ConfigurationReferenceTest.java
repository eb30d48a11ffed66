package io.railhead.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * docs/configuration.md says of each key what the code says: its name, values and default. What it
 * means is written there by hand. {@code -Drailhead.golden=write} writes the rest anew.
 */
class ConfigurationReferenceTest {
    private static final Path REFERENCE = Path.of("../docs/configuration.md");
    private static final Pattern ROW = Pattern
            .compile("^\\| `([^`]+)` \\|[^|]*\\|[^|]*\\| (.*) \\|$");
    /** What depends on the machine. */
    private static final Map<String, String> DEFAULTS = Map.of("gateway.name", "the host's name");

    @TempDir
    private Path folder;
    private final Map<String, Key> keys = new LinkedHashMap<>();

    record Key(String kind, String otherwise) {}

    /** Every section and key that a file may have: a key in no file is asked for all the same. */
    @BeforeEach
    void ask() throws Exception {
        for (String file : new String[]{"credentials.yaml", "policy.json", "cert.pem", "key.pem",
                "ca.pem", "token"}) {
            Files.createFile(folder.resolve(file));
        }
        ask("every-key.yaml");
        ask("every-key-of-a-cluster.yaml");
    }

    private void ask(String file) throws Exception {
        String yaml = Files.readString(Path.of("src/test/resources", file));
        ConfigLoader.load(Files.writeString(folder.resolve("railhead.yaml"), yaml),
                (path, kind, otherwise) -> keys.putIfAbsent(
                        path.replace("backends.store", "backends.NAME")
                                .replace("cache.tenants.tenant", "cache.tenants.TENANT")
                                .replace("disk.tenants.tenant", "disk.tenants.TENANT")
                                .replace("rate.tenants.tenant", "rate.tenants.TENANT")
                                .replaceAll("\\[\\d+\\]", "[]"),
                        new Key(kind, otherwise)));
    }

    @Test
    void itIsWhatTheCodeAsksFor() throws Exception {
        String found = Files.readString(REFERENCE);
        String expected = written(found);
        if ("write".equals(System.getProperty("railhead.golden"))) {
            Files.writeString(REFERENCE, expected);
        }
        assertThat(Files.readString(REFERENCE))
                .as("docs/configuration.md; write it with -Drailhead.golden=write")
                .isEqualTo(expected);
        assertThat(expected.lines().filter(line -> line.startsWith("| `")))
                .as("keys that nobody has described")
                .noneMatch(line -> line.endsWith("| ? |"));
    }

    private String written(String found) throws IOException {
        Map<String, String> meanings = new LinkedHashMap<>();
        StringBuilder written = new StringBuilder();
        boolean isWritten = false;
        for (String line : found.lines().toList()) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                meanings.put(row.group(1), row.group(2));
            }
        }
        for (String line : found.lines().toList()) {
            if (!ROW.matcher(line).matches()) {
                written.append(line).append('\n');
            } else if (!isWritten) {
                isWritten = true;
                keys.forEach((name, key) -> written.append(row(name, key, meanings)));
            }
        }
        return written.toString();
    }

    private static String row(String name, Key key, Map<String, String> meanings) {
        String otherwise = DEFAULTS.getOrDefault(name,
                key.otherwise().isEmpty() ? "–" : "`" + key.otherwise() + "`");
        return "| `" + name + "` | " + key.kind() + " | " + otherwise + " | "
                + meanings.getOrDefault(name, "?") + " |\n";
    }
}
