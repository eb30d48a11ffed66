package io.railhead.gateway.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are no configuration at all. */
class ConfigFileTest {
    private static final String SAMPLE = """
            gateway: {credentials: credentials.yaml}
            backends: {a: {endpoints: ["http://s3:80"]}}
            cache: {memory: 1GiB}
            """;

    @TempDir
    Path folder;

    private Path write(String yaml) throws IOException {
        return Files.writeString(folder.resolve("railhead.yaml"), yaml);
    }

    private String refusal(String yaml) throws IOException {
        Path file = write(yaml);
        ConfigException e = catchThrowableOfType(ConfigException.class,
                () -> ConfigLoader.load(file));
        assertThat(e).as(yaml).isNotNull();
        assertThat(e.getMessage()).doesNotContain("\n");
        return String.valueOf(e.getMessage());
    }

    @Test
    void aFileThatIsNotYamlIsOneLine() throws IOException {
        assertThat(refusal("gateway: [")).startsWith("railhead.yaml:1: ");
        assertThat(refusal("a: 1\nb: 2\n\tc: 3\n")).startsWith("railhead.yaml:3: ");
        assertThat(refusal("a: 1\nb: \"x\nc: 3\nd: 4\n")).startsWith("railhead.yaml:2: ");
        assertThat(refusal("a: 1\nb\nc: 3\n")).startsWith("railhead.yaml:3: ")
                .contains("begun in line 2");
        assertThat(refusal("a: 1\nb: [1, 2\nc: 4\n")).startsWith("railhead.yaml:3: ")
                .contains("begun in line 2");
        assertThat(refusal("a: 1\nb: {x: 1\n")).startsWith("railhead.yaml:2: ");
        assertThat(refusal("a: 1\n c: 3\n")).startsWith("railhead.yaml:2: ");
        assertThat(refusal("")).contains("gateway.credentials: no such file");
        assertThat(refusal("a: 1\n---\nb: 2\n")).contains("more than one document");
        assertThat(refusal("- a\n")).contains("must be a mapping");
    }

    @Test
    void anyBytesAreAtWorstOneLine() throws Exception {
        assertThat(refusal("a: \u0001")).startsWith("railhead.yaml");
        assertThat(refusal("a: " + "[".repeat(2000))).startsWith("railhead.yaml");
        assertThat(refusal("a: &x [*x, *x]\nb: *y")).startsWith("railhead.yaml");
        Random random = new Random(77);
        byte[] sample = Files.readAllBytes(write(SAMPLE));
        for (int i = 0; i < 500; i++) {
            byte[] broken = sample.clone();
            broken[random.nextInt(broken.length)] = (byte) random.nextInt();
            Path file = Files.write(folder.resolve("railhead.yaml"), broken);
            try {
                ConfigLoader.load(file);
            } catch (ConfigException e) {
                assertThat(e.getMessage()).startsWith("railhead.yaml").doesNotContain("\n");
            }
        }
    }

    @Test
    void anAliasIsNotTakenForItsName() throws Exception {
        assertThat(refusal("a: &x {b: 1}\nc:\n  d: *x\n"))
                .isEqualTo("railhead.yaml:3: c.d: is an alias (*); write the value itself");
        assertThat(refusal("a: &x b\nc:\n  - d\n  - *x\n"))
                .isEqualTo("railhead.yaml:4: c.1: is an alias (*); write the value itself");
        assertThat(refusal("a: &x b\nc: {d: 1, *x : 2}\n"))
                .startsWith("railhead.yaml:2: c");
        assertThat(refusal("a: &x {b: 1}\nc: {<<: *x}\n"))
                .endsWith("is an alias (*); write the value itself");
        ConfigException e = catchThrowableOfType(ConfigException.class,
                () -> YamlFile.parse(Path.of("credentials.yaml"),
                        "keys: [{secret_key: &k s3cret}, {secret_key: *k}]".getBytes(UTF_8)));
        assertThat(e).hasMessage("credentials.yaml:1: keys.1.secret_key: is an alias (*);"
                + " write the value itself");
    }

    @Test
    void aMissingFileIsOneLine() {
        Path missing = folder.resolve("missing.yaml");
        assertThat(catchThrowableOfType(ConfigException.class, () -> ConfigLoader.load(missing)))
                .hasMessage(missing + ": no such file");
    }
}
