package io.railhead.gateway.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.backend.BackendConfig;
import io.railhead.gateway.config.GatewayConfig.Admin;
import io.railhead.gateway.config.GatewayConfig.AuthMode;
import io.railhead.gateway.config.GatewayConfig.Cache;
import io.railhead.gateway.config.GatewayConfig.Gateway;
import io.railhead.gateway.config.GatewayConfig.Loopback;
import io.railhead.gateway.config.GatewayConfig.PutDecline;
import io.railhead.gateway.config.GatewayConfig.Rdma;
import io.railhead.gateway.config.GatewayConfig.Store;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigLoaderTest {
    private static final String GATEWAY = "gateway: {credentials: credentials.yaml}\n";
    private static final String BACKENDS = "backends: {a: {endpoints: [\"http://s3:80\"]}}\n";
    private static final String TWO_BACKENDS = "backends: {a: {endpoints: [\"http://s3:80\"]},"
            + " b: {endpoints: [\"http://s4:80\"]}}\n";

    @TempDir
    Path folder;

    @BeforeEach
    void credentialsExist() throws IOException {
        Files.writeString(folder.resolve("credentials.yaml"), "");
        Files.writeString(folder.resolve("ca.pem"), "");
    }

    private GatewayConfig load(String yaml) throws Exception {
        return ConfigLoader.load(write(yaml));
    }

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
    void everyDefaultIsPinned() throws Exception {
        GatewayConfig config = load(GATEWAY + BACKENDS);

        assertThat(config.gateway()).isEqualTo(new Gateway(
                new ListenAddress("0.0.0.0", 9000), new ListenAddress("0.0.0.0", 9901),
                folder.resolve("credentials.yaml"), List.of(), Duration.ofSeconds(30),
                ByteCount.parse("64KiB"), Duration.ofSeconds(10), Duration.ofSeconds(60),
                Runtime.getRuntime().availableProcessors(), AuthMode.VERIFY));
        assertThat(config.cache()).isEqualTo(new Cache(ByteCount.parse("4GiB"),
                ByteCount.parse("256KiB"), new Percent(5), false, ByteCount.parse("16MiB"),
                ByteCount.parse("8MiB"), 1_000_000));
        assertThat(config.backends()).isEqualTo(Map.of("a", new Store(new BackendConfig("a",
                List.of(URI.create("http://s3:80")), "us-east-1", null, true,
                Duration.ofSeconds(3), Duration.ofSeconds(30), Duration.ofSeconds(10), 256, 3),
                null)));
        assertThat(config.rules().all()).containsExactly(new Rule("a", new Freshness.Strong(),
                Duration.ofSeconds(60), CacheMode.READS, true, ByteCount.UNLIMITED, false, false));
        assertThat(config.rdma()).isEqualTo(new Rdma(
                new Loopback(true, Path.of("/run/railhead/loopback.sock")),
                Duration.ofSeconds(2), Duration.ofSeconds(7), PutDecline.FAIL_CLOSED, 64,
                Duration.ofSeconds(60)));
        assertThat(config.admin()).isEqualTo(new Admin(new ListenAddress("127.0.0.1", 9902)));
    }

    @Test
    void everyKeyIsPinned() throws Exception {
        GatewayConfig config = load("""
                gateway: {listen: "[::1]:1", health: "h:2", credentials: credentials.yaml,
                  domains: [S3.Rack], drain: 1s, max_header: 8KiB, header_timeout: 2s,
                  idle_timeout: 3s, event_loops: 4, mode: verify}
                cache: {memory: 1GiB, page: 64KiB, reserve: 7%, lock: true, window: 4MiB,
                  run: 1MiB, metadata_entries: 5}
                backends:
                  a: {endpoints: ["https://s3/", "http://10.0.0.1:8080"], region: eu, ca: ca.pem,
                    addressing: virtual, connect_timeout: 1s, answer_timeout: 2m,
                    idle_timeout: 1h, max_connections: 4, max_attempts: 5, probe_bucket: p}
                rules:
                  - {bucket: "m-*", prefix: x/, tenant: t, backend: a,
                     freshness: {bounded: 500ms}, authorization: {remember: 0s}, cache: off,
                     rdma: off, max_object: 1TiB, shared: true, stale_if_error: true}
                rdma: {loopback: {enabled: false, socket: l.sock}, decide_timeout: 1s,
                  fence_timeout: 2s, put_decline: spec, max_sessions_per_principal: 3,
                  token_age: 4s}
                admin: {listen: "localhost:0"}
                """);

        assertThat(config.gateway()).isEqualTo(new Gateway(new ListenAddress("::1", 1),
                new ListenAddress("h", 2), folder.resolve("credentials.yaml"), List.of("s3.rack"),
                Duration.ofSeconds(1), ByteCount.parse("8KiB"), Duration.ofSeconds(2),
                Duration.ofSeconds(3), 4, AuthMode.VERIFY));
        assertThat(config.cache()).isEqualTo(new Cache(ByteCount.parse("1GiB"),
                ByteCount.parse("64KiB"), new Percent(7), true, ByteCount.parse("4MiB"),
                ByteCount.parse("1MiB"), 5));
        assertThat(config.backends().get("a")).isEqualTo(new Store(new BackendConfig("a",
                List.of(URI.create("https://s3"), URI.create("http://10.0.0.1:8080")), "eu",
                folder.resolve("ca.pem"), false, Duration.ofSeconds(1), Duration.ofMinutes(2),
                Duration.ofHours(1), 4, 5), "p"));
        assertThat(config.rules().match("t", "m-1", "x/y")).isEqualTo(new Rule("a",
                new Freshness.Bounded(Duration.ofMillis(500)), Duration.ZERO, CacheMode.OFF, false,
                ByteCount.parse("1TiB"), true, true));
        assertThat(config.rdma()).isEqualTo(new Rdma(
                new Loopback(false, folder.resolve("l.sock")), Duration.ofSeconds(1),
                Duration.ofSeconds(2), PutDecline.SPEC, 3, Duration.ofSeconds(4)));
        assertThat(config.admin()).isEqualTo(new Admin(new ListenAddress("localhost", 0)));
    }

    @Test
    void theSampleLoads() throws Exception {
        try (InputStream sample = ConfigLoader.class
                .getResourceAsStream("railhead-sample.yaml")) {
            assertThat(sample).isNotNull();
            GatewayConfig config = load(new String(sample.readAllBytes(), UTF_8));
            GatewayConfig defaults = load(GATEWAY + BACKENDS);

            assertThat(config.gateway()).isEqualTo(defaults.gateway());
            assertThat(config.cache()).isEqualTo(defaults.cache());
            assertThat(config.rdma()).isEqualTo(defaults.rdma());
            assertThat(config.admin()).isEqualTo(defaults.admin());
            assertThat(config.rules().match("research", "models-7", "released/w").freshness())
                    .isEqualTo(new Freshness.Immutable());
            assertThat(config.rules().match("other", "models-7", "released/w").freshness())
                    .isEqualTo(new Freshness.Strong());
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "cache: {memry: 1GiB}              | cache.memry: unknown key; did you mean cache.memory?",
            "cache: {zzzzzzzz: 1}              | cache.zzzzzzzz: unknown key; known here: memory,",
            "cahce: {memory: 1GiB}             | cahce: unknown key; did you mean cache?",
            "cache: {memory: 4GB}              | cache.memory: '4GB' is not a size such as 4GiB",
            "cache: {memory: -1}               | cache.memory: '-1' is not a size",
            "cache: {memory: 9999999999TiB}    | cache.memory: '9999999999TiB' is not a size",
            "cache: {memory: [1]}              | cache.memory: must be a single value",
            "cache: {memory: 16MiB}            | cache.memory: must hold at least two of cache.window",
            "cache: {page: 100KiB}             | cache.page: must be 64KiB, 128KiB",
            "cache: {page: 2MiB}               | cache.page: must be 64KiB, 128KiB",
            "cache: {reserve: 5}               | cache.reserve: '5' is not a percentage such as 5%",
            "cache: {reserve: 51%}             | cache.reserve: must be at most 50%",
            "cache: {run: 32MiB}               | cache.window: must hold at least one cache.run",
            "cache: {run: 64KiB}               | cache.run: must hold at least one cache.page",
            "cache: {lock: maybe}              | cache.lock: 'maybe' is neither true nor false",
            "cache: {metadata_entries: 0}      | cache.metadata_entries: must be 1 to 2147483647: 0",
            "cache: {metadata_entries: x}      | cache.metadata_entries: 'x' is not a whole number",
            "cache: 5                          | cache: must be a mapping of keys to values",
            "rdma: {decide_timeout: 2}         | rdma.decide_timeout: '2' is not a duration such as",
            "rdma: {decide_timeout: 0s}        | rdma.decide_timeout: must be longer than 0",
            "rdma: {decide_timeout: 9s}        | rdma.fence_timeout: must be longer than",
            "rdma: {put_decline: open}         | rdma.put_decline: 'open' is not one of fail-closed",
            "rdma: {loopback: {sockt: x}}      | rdma.loopback.sockt: unknown key; did you mean rdma.",
            "admin: {listen: 9902}             | admin.listen: '9902' is not an address such as",
            "admin: {listen: 'h:99999'}        | admin.listen: 'h:99999' is not an address",
            "rules: {}                         | rules: must be a list",
            "rules: [{backend: c}]             | rules[0].backend: there is no 'c' under backends",
            "rules: [{freshness: fresh}]       | rules[0].freshness: 'fresh' is not one of strong",
            "rules: [{freshness: {bounded: 5}}]     | rules[0].freshness.bounded: '5' is not a dur",
            "rules: [{freshness: {}}]          | rules[0].freshness: must be strong, immutable,",
            "rules: [{freshness: {exclusive: 1h}}]  | rules[0].freshness: exclusive is not served yet",
            "rules: [{cache: reads+writes}]    | rules[0].cache: reads+writes is not served yet",
            "rules: [{cache: on}]              | rules[0].cache: 'on' is not one of off, reads",
            "rules: [{bukket: x}]     | rules[0].bukket: unknown key; did you mean",
            "rules: [{}, {}]                   | rules[1]: is never reached",
            "cache: {lock: on, lock: off}      | cache.lock: Duplicate",
    })
    void aBadValueIsOneLineNamingItsKey(String yaml, String line) throws IOException {
        assertThat(refusal(GATEWAY + BACKENDS + yaml)).startsWith("railhead.yaml").contains(line);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "{credentials: nowhere.yaml}  | gateway.credentials: no such file: ",
            "{mode: pass-through}         | gateway.mode: only verify is served as yet",
            "{mode: trusted-network}      | gateway.mode: only verify is served as yet",
            "{mode: none}                 | gateway.mode: 'none' is not one of pass-through, trusted",
            "{max_header: 1}              | gateway.max_header: must be 4KiB to 1MiB",
            "{domains: ['.x']}            | gateway.domains: '.x' is not a host name",
            "{domains: [5]}               | gateway.domains: must be a list of texts",
    })
    void aBadFrontDoorIsOneLineNamingItsKey(String gateway, String line) throws IOException {
        String yaml = gateway.contains("credentials")
                ? gateway
                : gateway.replace("{", "{credentials: credentials.yaml, ");
        assertThat(refusal("gateway: " + yaml + "\n" + BACKENDS)).contains(line);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "{}                                 | backends: is missing",
            "{a: {}}                            | backends.a.endpoints: needs at least one",
            "{a: {endpoints: ['s3:80']}}        | backends.a.endpoints: 's3:80' is not scheme, host",
            "{a: {endpoints: ['http://h/p']}}   | backends.a.endpoints: 'http://h/p' is not scheme",
            "{a: {endpoints: ['ht tp://h']}}    | backends.a.endpoints: 'ht tp://h' is not scheme",
            "{a: {endpoints: ['http://h','http://h']}} | backends.a.endpoints: 'http://h' appears twice",
            "{a: {endpoints: ['http://h'], ca: x.pem}} | backends.a.ca: no such file: ",
            "{a: {endpoints: ['http://h'], region: 5}} | backends.a.region: must be text; put it in",
    })
    void aBadStoreIsOneLineNamingItsKey(String backends, String line) throws IOException {
        assertThat(refusal(GATEWAY + "backends: " + backends)).contains(line);
    }

    @Test
    void severalBackendsNeedARuleForEverythingElse() throws Exception {
        assertThat(refusal(GATEWAY + TWO_BACKENDS)).contains("rules: with several backends");
        assertThat(refusal(GATEWAY + TWO_BACKENDS + "rules: [{}]"))
                .contains("rules[0].backend: is missing; one of a, b");
        assertThat(load(GATEWAY + TWO_BACKENDS + "rules: [{backend: b}]").rules()
                .match("t", null, "")
                .backend()).isEqualTo("b");
    }

    @Test
    void aFileThatIsNotYamlIsOneLine() throws IOException {
        assertThat(refusal("gateway: [")).startsWith("railhead.yaml:");
        assertThat(refusal("")).contains("gateway.credentials: no such file");
        assertThat(refusal("a: 1\n---\nb: 2\n")).contains("more than one document");
        assertThat(refusal("- a\n")).contains("must be a mapping");
    }

    @Test
    void aSectionWhoseKeysAreCommentedOutHasItsDefaults() throws Exception {
        assertThat(load(GATEWAY + BACKENDS + "cache:\n#  memory: 1GiB\nrules:\n").cache())
                .isEqualTo(load(GATEWAY + BACKENDS).cache());
    }

    @Test
    void aMissingFileIsOneLine() {
        Path missing = folder.resolve("missing.yaml");
        assertThat(catchThrowableOfType(ConfigException.class, () -> ConfigLoader.load(missing)))
                .hasMessage(missing + ": no such file");
    }
}
