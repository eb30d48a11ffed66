package io.railhead.gateway.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.backend.BackendConfig;
import io.railhead.backend.Rate;
import io.railhead.cache.CacheConfig;
import io.railhead.cache.TenantQuota;
import io.railhead.cache.disk.WrappingKeys;
import io.railhead.gateway.config.GatewayConfig.Access;
import io.railhead.gateway.config.GatewayConfig.Admin;
import io.railhead.gateway.config.GatewayConfig.Admission;
import io.railhead.gateway.config.GatewayConfig.Advertise;
import io.railhead.gateway.config.GatewayConfig.AuthMode;
import io.railhead.gateway.config.GatewayConfig.Cache;
import io.railhead.gateway.config.GatewayConfig.Channel;
import io.railhead.gateway.config.GatewayConfig.Gateway;
import io.railhead.gateway.config.GatewayConfig.Loopback;
import io.railhead.gateway.config.GatewayConfig.Pairs;
import io.railhead.gateway.config.GatewayConfig.PutDecline;
import io.railhead.gateway.config.GatewayConfig.Rdma;
import io.railhead.gateway.config.GatewayConfig.ReadAhead;
import io.railhead.gateway.config.GatewayConfig.Store;
import io.railhead.gateway.config.VerbsConfig.Connection;
import io.railhead.gateway.config.VerbsConfig.Listening;
import io.railhead.gateway.config.VerbsConfig.Outstanding;
import io.railhead.gateway.config.VerbsConfig.Pin;
import io.railhead.gateway.config.VerbsConfig.Polling;
import io.railhead.gateway.config.VerbsConfig.Queues;
import io.railhead.os.HugePageSize;
import io.railhead.os.devices.GidType;
import io.railhead.protocol.token.Dialects;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A key a test: what it means, and what is said where it is wrong; one loader, one long class. */
class ConfigLoaderTest {
    private static final long CACHEABLE = CacheConfig
            .cacheableBytes((1L << 30) - new Percent(7).of(1L << 30), 1 << 20);
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
        Files.writeString(folder.resolve("policy.json"), "");
        Files.setPosixFilePermissions(
                Files.writeString(folder.resolve("disk.key"), "01".repeat(32) + "\n"),
                PosixFilePermissions.fromString("rw-r-----"));
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
                Files.readString(Path.of("/proc/sys/kernel/hostname")).strip(),
                new ListenAddress("0.0.0.0", 9000), new ListenAddress("0.0.0.0", 9901),
                folder.resolve("credentials.yaml"), List.of(), Duration.ofSeconds(30),
                Duration.ZERO,
                ByteCount.parse("64KiB"), Duration.ofSeconds(10), Duration.ofSeconds(60),
                ByteCount.parse("1KiB"), new Admission(0, ByteCount.parse("0"), 0, RateLimits.NONE),
                Runtime.getRuntime().availableProcessors(),
                new Access(AuthMode.VERIFY, null, null, false), false, false, null, null, null,
                null));
        assertThat(config.cache()).isEqualTo(new Cache(ByteCount.parse("4GiB"),
                ByteCount.parse("256KiB"), new Percent(5), false, null, ByteCount.parse("16MiB"),
                ByteCount.parse("8MiB"), 1_000_000, new Percent(50),
                new ReadAhead(ByteCount.parse("64MiB"), ByteCount.parse("256MiB")), Map.of(),
                GatewayConfig.Verify.SCRUB, ByteCount.parse("64MiB"), null));
        assertThat(config.backends()).isEqualTo(Map.of("a", new Store(new BackendConfig("a",
                List.of(URI.create("http://s3:80")), "us-east-1", null, true,
                Duration.ofSeconds(3), Duration.ofSeconds(30), Duration.ofSeconds(10), 256, 3,
                BackendConfig.TrailerPolicy.AUTO, new BackendConfig.Fetches(4, 128), null),
                null)));
        assertThat(config.rules().all()).containsExactly(new Rule("a", new Freshness.Strong(),
                Duration.ofSeconds(60), CacheMode.READS, true, ByteCount.UNLIMITED, false, false,
                false, false));
        assertThat(config.rdma()).isEqualTo(new Rdma(
                new Loopback(true, Path.of("/run/railhead/loopback.sock"), false, false),
                new VerbsConfig(false, new Listening(List.of(), 7471), new Pin(null, 1, null),
                        new Connection(null, 0, null, 14, 6, 3, 12), new Queues(256, 16),
                        new Polling(1, Duration.ofNanos(20_000)),
                        new Outstanding(ByteCount.parse("16MiB"), ByteCount.parse("64MiB"),
                                ByteCount.parse("256MiB"))),
                new DcConfig(false, new Pin(null, 1, null), null, 32, null,
                        new DcConfig.Sending(16, 7, 3, 64, 96, 0), new DcConfig.Outstanding(
                                ByteCount.parse("64MiB"), ByteCount.parse("256MiB"))),
                GidType.ROCE_V2, new Advertise(List.of(), 0),
                new Channel(64, Duration.ofSeconds(10), Duration.ofSeconds(60)),
                Duration.ofSeconds(2), Duration.ofSeconds(7), PutDecline.FAIL_CLOSED,
                new Dialects.Served(false, false, true), 64, Duration.ofSeconds(60),
                new Pairs(true, Duration.ofSeconds(60), new ByteCount(0))));
        assertThat(config.admin())
                .isEqualTo(new Admin(true, new ListenAddress("127.0.0.1", 9902), null));
    }

    @Test
    void everyKeyIsPinned() throws Exception {
        GatewayConfig config = load(
                """
                        gateway: {name: rack7, listen: "[::1]:1", health: "h:2", credentials: credentials.yaml,
                          domains: [S3.Rack], drain: 1s, warm_up: 3s, max_header: 8KiB, header_timeout: 2s,
                          idle_timeout: 3s, min_rate: 2KiB, event_loops: 4,
                          admission: {requests: 7, bytes: 64MiB, connections: 9,
                            rate: {requests: 11, bytes: 2KiB, tenants: {team: {requests: 12},
                              free: {requests: 0, bytes: 0}}}}, authentication: verify,
                          policy: policy.json, sigv2: true, sole: true,
                          allow_cleartext: true, tls: {certificate: ca.pem, key: credentials.yaml,
                          client_ca: ca.pem}, events: {enabled: true, token_file: ca.pem},
                          web_identity: {session_keys: ca.pem, issuers: [{issuer: "https://k8s",
                            audiences: [railhead], jwks: "https://k8s/keys", ca: ca.pem,
                            token_file: ca.pem, token_hosts: [node], algorithms: [ES384], clock_skew: 9s,
                            single_use: true}]}}
                        cache: {memory: 1GiB, page: 64KiB, reserve: 7%, lock: true,
                          huge_pages: 1GiB, window: 4MiB,
                          run: 1MiB, metadata_entries: 5, pin_limit: 33%, verify: always, scrub: 0,
                          disk: {paths: [/tmp/d1, /tmp/d2], size: 1GiB, writes_per_day: 0.5, min_object: 4KiB,
                            tenants: {t: {quota: 1GiB, floor: 25%}}, encrypt: tenant, key_file: disk.key},
                          read_ahead: {window: 2MiB, per_tenant: 3MiB},
                          tenants: {t: {quota: 128MiB, floor: 64MiB}, all: {floor: 10%}}}
                        backends:
                          a: {endpoints: ["https://s3/", "http://10.0.0.1:8080"], region: eu, ca: ca.pem,
                            addressing: virtual, connect_timeout: 1s, answer_timeout: 2m,
                            idle_timeout: 1h, max_connections: 4, min_fetches: 2, max_fetches: 3, max_attempts: 5, trailers: drop,
                            rate: {requests: 13, bytes: 14KiB},
                            probe_bucket: p}
                        rules:
                          - {bucket: "m-*", prefix: x/, tenant: t, backend: a,
                             freshness: {bounded: 500ms}, authorization: {remember: 0s}, cache: off,
                             rdma: off, max_object: 1TiB, shared: true, stale_if_error: true, verify_fills: on}
                        rdma: {loopback: {enabled: false, socket: l.sock, cross_memory: true},
                          verbs: {enabled: true, listen: ["10.99.0.1", "fd00::1"], port: 7,
                            device: mlx5_0, device_port: 2, gid_index: 3, mtu: 4096, traffic_class: 96,
                            service_level: 5, ack_timeout: 15, retry_count: 4, rnr_retry: 2,
                            min_rnr_timer: 13, send_queue_depth: 64,
                            read_depth: 8, pollers: 3, spin: 1ms, max_outstanding_per_queue_pair: 1MiB,
                            max_outstanding_per_principal: 2MiB, max_outstanding_per_port: 3MiB},
                          dc: {enabled: true, device: mlx5_1, device_port: 2, gid_index: 5, mtu: 1024,
                            initiators: 8, key_file: dc.key, ack_timeout: 15, retry_count: 4, rnr_retry: 2,
                            hop_limit: 4, traffic_class: 104, service_level: 3,
                            max_outstanding_per_principal: 2MiB, max_outstanding_per_port: 3MiB},
                          gid_type: ib, advertise: {addresses: [rack7-ib, "10.1.0.1"],
                          port: 8}, channel: {max_requests: 5, keep_alive: 6s, request_timeout: 7s}, decide_timeout: 1s,
                          fence_timeout: 2s, put_decline: spec,
                          dialects: {rdma_info: on, cuobj: on, hipobj: off, connect: off},
                          max_sessions_per_principal: 3,
                          token_age: 4s, pair_idle: 5s, staging: 6MiB}
                        admin: {listen: "localhost:0"}
                        """);

        assertThat(config.gateway()).isEqualTo(new Gateway("rack7", new ListenAddress("::1", 1),
                new ListenAddress("h", 2), folder.resolve("credentials.yaml"), List.of("s3.rack"),
                Duration.ofSeconds(1), Duration.ofSeconds(3), ByteCount.parse("8KiB"),
                Duration.ofSeconds(2),
                Duration.ofSeconds(3), ByteCount.parse("2KiB"),
                new Admission(7, ByteCount.parse("64MiB"), 9,
                        new RateLimits(new Rate(11, 2048),
                                Map.of("team", new Rate(12, 2048),
                                        "free", new Rate(0, 0)))),
                4,
                new Access(AuthMode.VERIFY, null, folder.resolve("policy.json"), true), true, true,
                new GatewayConfig.Tls(folder.resolve("ca.pem"), folder.resolve("credentials.yaml"),
                        folder.resolve("ca.pem")),
                null, new GatewayConfig.Events(folder.resolve("ca.pem")),
                new GatewayConfig.WebIdentity(folder.resolve("ca.pem"), Map.of("https://k8s",
                        new GatewayConfig.Issuer("https://k8s", List.of("railhead"),
                                URI.create("https://k8s/keys"), null, folder.resolve("ca.pem"),
                                folder.resolve("ca.pem"), List.of("node"), List.of("ES384"),
                                Duration.ofSeconds(9),
                                true)))));
        assertThat(config.cache()).isEqualTo(new Cache(ByteCount.parse("1GiB"),
                ByteCount.parse("64KiB"), new Percent(7), true, HugePageSize.GIB_1,
                ByteCount.parse("4MiB"),
                ByteCount.parse("1MiB"), 5, new Percent(33),
                new ReadAhead(ByteCount.parse("2MiB"), ByteCount.parse("3MiB")),
                Map.of("t", new TenantQuota(128 << 20, 64 << 20), "all",
                        new TenantQuota(TenantQuota.NO_QUOTA, new Percent(10).of(CACHEABLE))),
                GatewayConfig.Verify.ALWAYS, ByteCount.parse("0"),
                new GatewayConfig.Disk(List.of("/tmp/d1", "/tmp/d2"), ByteCount.parse("1GiB"),
                        ByteCount.parse("1GiB"), ByteCount.parse("4KiB"),
                        Map.of("t", new TenantQuota(1 << 30, 512 << 20)),
                        WrappingKeys.parse("01".repeat(32)))));
        assertThat(config.backends().get("a")).isEqualTo(new Store(new BackendConfig("a",
                List.of(URI.create("https://s3"), URI.create("http://10.0.0.1:8080")), "eu",
                folder.resolve("ca.pem"), false, Duration.ofSeconds(1), Duration.ofMinutes(2),
                Duration.ofHours(1), 4, 5, BackendConfig.TrailerPolicy.DROP,
                new BackendConfig.Fetches(2, 3), null,
                new Rate(13, 14 << 10)), "p"));
        assertThat(config.rules().match("t", "m-1", "x/y")).isEqualTo(new Rule("a",
                new Freshness.Bounded(Duration.ofMillis(500)), Duration.ZERO, CacheMode.OFF, false,
                ByteCount.parse("1TiB"), true, true, true, false));
        assertThat(config.rdma()).isEqualTo(new Rdma(
                new Loopback(false, folder.resolve("l.sock"), true, true),
                new VerbsConfig(true,
                        new Listening(List.of(InetAddress.ofLiteral("10.99.0.1"),
                                InetAddress.ofLiteral("fd00::1")), 7),
                        new Pin("mlx5_0", 2, 3), new Connection(4096, 96, 5, 15, 4, 2, 13),
                        new Queues(64, 8), new Polling(3, Duration.ofMillis(1)),
                        new Outstanding(ByteCount.parse("1MiB"), ByteCount.parse("2MiB"),
                                ByteCount.parse("3MiB"))),
                new DcConfig(true, new Pin("mlx5_1", 2, 5), 1024, 8, folder.resolve("dc.key"),
                        new DcConfig.Sending(15, 4, 2, 4, 104, 3), new DcConfig.Outstanding(
                                ByteCount.parse("2MiB"), ByteCount.parse("3MiB"))),
                GidType.INFINIBAND,
                new Advertise(List.of("rack7-ib", "10.1.0.1"), 8),
                new Channel(5, Duration.ofSeconds(6), Duration.ofSeconds(7)),
                Duration.ofSeconds(1),
                Duration.ofSeconds(2), PutDecline.SPEC, new Dialects.Served(true, true, false), 3,
                Duration.ofSeconds(4),
                new Pairs(false, Duration.ofSeconds(5), ByteCount.parse("6MiB"))));
        assertThat(config.admin())
                .isEqualTo(new Admin(true, new ListenAddress("localhost", 0), null));
    }

    @Test
    void aKeyThatHasNoEffectAnyMoreIsAWarning() throws Exception {
        GatewayConfig plain = load(GATEWAY + BACKENDS);
        GatewayConfig old = load(GATEWAY + BACKENDS + "rdma: {provider: foreign}\n");

        assertThat(plain.warnings()).isEmpty();
        assertThat(old.warnings()).containsExactly("rdma.provider: has no effect any more:"
                + " rdma-core is always called by Railhead itself; remove the key");
        assertThat(old.rdma()).isEqualTo(plain.rdma());
        assertThat(old.keysThatNeedARestart(plain)).isEmpty();
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

    private BackendConfig.@Nullable Proxy proxyOf(String url) throws Exception {
        return Objects.requireNonNull(load(GATEWAY + proxy(url)).backends().get("a"))
                .backend()
                .proxy();
    }

    @Test
    void aProxyIsAnAddressWithOrWithoutALogin() throws Exception {
        assertThat(proxyOf("http://proxy:3128"))
                .isEqualTo(new BackendConfig.Proxy("proxy", 3128, null, null));
        assertThat(proxyOf("http://ann:se:cret@[::1]:3128/"))
                .isEqualTo(new BackendConfig.Proxy("::1", 3128, "ann", "se:cret"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"proxy:3128", "https://proxy:3128", "http://proxy", "http://ann@p:1",
            "http://p:70000", "http://p:1/x", "socks://p:1", "http://ann:secret@p:1?x"})
    void whatIsNoProxyIsRefusedWithoutItsLogin(String proxy) {
        assertThatThrownBy(() -> load(GATEWAY + proxy(proxy))).isInstanceOf(ConfigException.class)
                .hasMessageContaining("backends.a.proxy: must ")
                .hasMessageNotContaining("secret");
    }

    private static String proxy(String url) {
        return "backends: {a: {endpoints: ['http://s3'], proxy: '" + url + "'}}\n";
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
            "cache: {pin_limit: 81%}           | cache.pin_limit: must be at most 80%",
            "cache: {tenants: {t: {quota: x}}}   | cache.tenants.t.quota: 'x' is not",
            "cache: {tenants: {t: {quota: 5%, floor: 6%}}} | cache.tenants.t.floor: must not be above quota",
            "cache: {tenants: {t: {floor: 4GiB}}} | cache.tenants.t.floor: is more than the",
            "cache: {tenants: {t: {floor: 60%}, u: {floor: 41%}}} | cache.tenants: floors are",
            "cache: {tenants: {t: {flor: 1%}}}   | cache.tenants.t.flor: unknown key",
            "cache: {read_ahead: {window: 1GiB}} | cache.read_ahead.per_tenant: must hold at least",
            "cache: {reserve: 51%}             | cache.reserve: must be at most 50%",
            "cache: {run: 32MiB}               | cache.window: must hold at least one cache.run",
            "cache: {run: 64KiB}               | cache.run: must hold at least one cache.page",
            "cache: {lock: maybe}              | cache.lock: 'maybe' is neither true nor false",
            "cache: {disk: {encrypt: tenant}} | cache.disk.key_file: ",
            "cache: {disk: {encrypt: yes}} | cache.disk.encrypt: ",
            "cache: {disk: {key_file: /tmp/k}} | cache.disk.key_file: is of use with encrypt: tenant only",
            "cache: {disk: {encrypt: tenant, key_file: /no/key}} | cache.disk.key_file: cannot be read: ",
            "cache: {disk: {encrypt: tenant, key_file: /etc/passwd}} | cache.disk.key_file: can be read or written by others: chmod o-rwx /etc/passwd",
            "cache: {disk: {paths: [d]}}       | cache.disk.paths: must be absolute: d",
            "cache: {disk: {paths: [/]}}       | cache.disk.paths: must be absolute: /",
            "cache: {disk: {paths: [/no/d]}}   | cache.disk.paths: no such folder: /no",
            "cache: {disk: {paths: [/usr]}}    | cache.disk.paths: is a folder, and must be a file or a device: /usr",
            "cache: {disk: {paths: [/tmp/d, /tmp/d]}} | cache.disk.paths: names a file or device twice",
            "cache: {disk: {paths: [/tmp/d]}}  | cache.disk.size: must be from 130MiB to 16TiB: 0",
            "cache: {disk: {paths: [/tmp/d], size: 500000000}} | cache.disk.size: must be a multiple of 4096 bytes, such as 499998720: 500000000",
            "cache: {disk: {writes_per_day: -1}} | cache.disk.writes_per_day: '-1' is not a number of times the disks' size, such as 1 or 0.3, or a size such as 500GiB",
            "cache: {scrub: 2GiB}              | cache.scrub: must be at most 1GiB: 2GiB",
            "cache: {verify: never}            | cache.verify: 'never' is not one of always, scrub",
            "cache: {metadata_entries: 0}      | cache.metadata_entries: must be 1 to 2147483647: 0",
            "cache: {metadata_entries: x}      | cache.metadata_entries: 'x' is not a whole number",
            "cache: 5                          | cache: must be a mapping of keys to values",
            "rdma: {decide_timeout: 2}         | rdma.decide_timeout: '2' is not a duration such as",
            "rdma: {decide_timeout: 0s}        | rdma.decide_timeout: must be at least 1ms",
            "rdma: {decide_timeout: 9s}        | rdma.fence_timeout: must be longer than",
            "rdma: {put_decline: open}         | rdma.put_decline: 'open' is not one of fail-closed",
            "rdma: {loopback: {sockt: x}}      | rdma.loopback.sockt: unknown key; did you mean rdma.",
            "rdma: {gid_type: roce}            | rdma.gid_type: 'roce' is not one of ib, rocev1, rocev2",
            "rdma: {provider: disni}           | rdma.provider: 'disni' is no longer supported: rdma-core is always called by Railhead itself; remove the key",
            "rdma: {provider: [foreign]}       | rdma.provider: '' is no longer supported",
            "rdma: {provder: foreign}          | rdma.provder: unknown key; known here: dialects,",
            "rdma: {advertise: [h]}            | rdma.advertise: must be a mapping",
            "rdma: {advertise: {addresses: ['']}}  | rdma.advertise.addresses: must not hold an empty",
            "rdma: {advertise: {port: 65536}}  | rdma.advertise.port: must be 0 to 65535: 65536",
            "rdma: {channel: {max_requests: 0}}    | rdma.channel.max_requests: must be 1 to 1024: 0",
            "rdma: {channel: {keep_alive: 500ms}}  | rdma.channel.keep_alive: must be 1s to 5m",
            "rdma: {channel: {keep_alive: 6m}}     | rdma.channel.keep_alive: must be 1s to 5m",
            "rdma: {channel: {keepalive: 6s}}  | rdma.channel.keepalive: unknown key; did you mean rdma.",
            "rdma: {verbs: {enabled: maybe}}   | rdma.verbs.enabled: 'maybe' is neither true nor false",
            "rdma: {verbs: {listen: 10.0.0.1}} | rdma.verbs.listen: must be a list",
            "rdma: {verbs: {listen: [ib0]}}    | rdma.verbs.listen: 'ib0' is not an IP address such",
            "rdma: {verbs: {listen: ['10.0.0.1:7']}}  | rdma.verbs.listen: '10.0.0.1:7' is not an IP",
            "rdma: {verbs: {listen: ['0.0.0.0']}}  | rdma.verbs.listen: '0.0.0.0' is no adapter's; leave",
            "rdma: {verbs: {listen: ['fe80::1']}}  | rdma.verbs.listen: 'fe80::1' is link-local",
            "rdma: {verbs: {port: -1}}         | rdma.verbs.port: must be 0 to 65535: -1",
            "rdma: {dc: {gid_index: 3}}        | rdma.dc.gid_index: is one device's; name it under rdma.dc",
            "rdma: {dc: {rnr_retry: 7}}        | rdma.dc.rnr_retry: 7 retries for ever; at most 6",
            "rdma: {dc: {ack_timeout: 0}}      | rdma.dc.ack_timeout: 0 waits for ever",
            "rdma: {dc: {mtu: 1500}}           | rdma.dc.mtu: must be auto, 256, 512,",
            "rdma: {dc: {max_outstanding_per_principal: 1KiB}} | rdma.dc.max_outstanding_per_principal: must hold at least one cache.page",
            "rdma: {dc: {max_outstanding_per_port: 1MiB}} | rdma.dc.max_outstanding_per_port: must hold at least",
            "rdma: {verbs: {gid_index: 3}}     | rdma.verbs.gid_index: is one device's; name it under",
            "rdma: {verbs: {device_port: 0}}   | rdma.verbs.device_port: must be 1 to 255: 0",
            "rdma: {verbs: {gid_index: first}} | rdma.verbs.gid_index: must be auto or an index",
            "rdma: {verbs: {mtu: 1500}}        | rdma.verbs.mtu: must be auto, 256, 512, 1024, 2048, 4096",
            "rdma: {verbs: {traffic_class: 256}}   | rdma.verbs.traffic_class: must be 0 to 255: 256",
            "rdma: {verbs: {service_level: 16}}    | rdma.verbs.service_level: must be auto or 0 to 15: 16",
            "rdma: {verbs: {ack_timeout: 0}}   | rdma.verbs.ack_timeout: 0 waits for ever",
            "rdma: {verbs: {ack_timeout: 32}}  | rdma.verbs.ack_timeout: must be 0 to 31: 32",
            "rdma: {verbs: {retry_count: 7}}   | rdma.verbs.retry_count: 7 retries for ever",
            "rdma: {verbs: {retry_count: 8}}   | rdma.verbs.retry_count: must be 0 to 7: 8",
            "rdma: {verbs: {rnr_retry: 7}}     | rdma.verbs.rnr_retry: 7 retries for ever; at most 3",
            "rdma: {verbs: {rnr_retry: 4}}     | rdma.verbs.rnr_retry: must be 0 to 3: 4",
            "rdma: {verbs: {min_rnr_timer: 0}} | rdma.verbs.min_rnr_timer: 0 stands for 655 ms",
            "rdma: {verbs: {read_depth: 0}}    | rdma.verbs.read_depth: must be 1 to 255: 0",
            "rdma: {verbs: {send_queue_depth: 8}}  | rdma.verbs.send_queue_depth: must be 64 to 32768",
            "rdma: {verbs: {queue_pairs_per_session: 17}} | rdma.verbs.queue_pairs_per_session: unknown key",
            "rdma: {verbs: {pollers: 0}}       | rdma.verbs.pollers: must be 1 to 64: 0",
            "rdma: {verbs: {spin: 11ms}}       | rdma.verbs.spin: must be at most 10ms",
            "rdma: {verbs: {max_outstanding_per_queue_pair: 1KiB}} | must hold at least one cache.page",
            "rdma: {verbs: {max_outstanding_per_principal: 1MiB}} | must hold at least max_outstanding_",
            "rdma: {verbs: {max_outstanding_per_port: 1MiB}} | max_outstanding_per_port: must hold at",
            "admin: {listen: 9902}             | admin.listen: '9902' is not an address such as",
            "admin: {listen: 'h:99999'}        | admin.listen: 'h:99999' is not an address",
            "rules: {}                         | rules: must be a list",
            "rules: [{backend: c}]             | rules[0].backend: there is no 'c' under backends",
            "rules: [{freshness: fresh}]       | rules[0].freshness: 'fresh' is not one of strong",
            "rules: [{freshness: {bounded: 5}}]     | rules[0].freshness.bounded: '5' is not a dur",
            "rules: [{freshness: 30s}]         | rules[0].freshness: '30s' is not one of strong, immutable; at most that old is {bounded: 30s}",
            "rules: [{freshness: bounded}]     | rules[0].freshness: 'bounded' is not one of strong, immutable; bounded has a duration: {bounded: 30s}",
            "rules: [{freshness: {}}]          | rules[0].freshness: must be strong, immutable,",
            "rules: [{freshness: {exclusive: 1h}}]  | rules[0].freshness: exclusive needs gateway.sole: true",
            "rules: [{cache: on}]              | rules[0].cache: 'on' is not one of off, reads",
            "rules: [{authorization: policy}] | rules[0].authorization: policy needs gateway.policy",
            "rules: [{bucket: kv, durability: none}] | rules[0].durability: none needs gateway.policy",
            "rules: [{durability: none}]       | rules[0].bucket: is missing; durability: none is for",
            "rules: [{bucket: kv, durability: none, prefix: a}] | rules[0].prefix: has no meaning under",
            "rules: [{bucket: kv, durability: none, freshness: strong}] | rules[0].freshness: has no mea",
            "rules: [{bucket: kv, durability: none, shared: true}] | rules[0].shared: has no meaning un",
            "rules: [{bucket: kv, durability: none, authorization: backend}] | rules[0].authorization: must be policy",
            "rules: [{durability: disk}]       | rules[0].durability: 'disk' is not one of none, store",
            "rules: [{ttl: 2h}]                | rules[0].ttl: has no meaning without durability: none",
            "rules: [{bucket: kv, durability: none, tier: disk}] | rules[0].tier: disk needs cache.disk",
            "rules: [{tier: disk}]             | rules[0].tier: has no meaning without durability: none",
            "rules: [{verify_fills: 1}]        | rules[0].verify_fills: ",
            "rules: [{authorization: always}] | rules[0].authorization: 'always' is not one of backend",
            "rules: [{bukket: x}]     | rules[0].bukket: unknown key; did you mean",
            "rules: [{}, {}]                   | rules[1]: is never reached",
            "cache: {lock: on, lock: off}      | cache.lock: Duplicate",
            "cluster: {}                       | cluster.listen: is missing; the others connect to it",
            "cluster: {listen: '127.0.0.1:0', dns: x}     | cluster.listen: '127.0.0.1:0' needs a port",
            "cluster: {listen: '127.0.0.1:7800'}          | cluster.members: is needed, a list of all",
            "cluster: {listen: '127.0.0.1:7800', dns: x, members: ['h:7800']} | cluster.members: is ",
            "cluster: {listen: '127.0.0.1:7800', members: ['0.0.0.0:7800']}   | cluster.members: '0.0.0.0:7800' is nobody's",
            "cluster: {listen: '127.0.0.1:7800', members: [h]}  | cluster.members: 'h' is not an address",
            "cluster: {listen: '10.0.0.1:7800', dns: x}         | cluster.tls: is missing; without cert",
            "cluster: {listen: '127.0.0.1:7800', dns: x, fills: '127.0.0.1:0'} | cluster.fills: '127.0.0.1:0' needs a port",
            "cluster: {listen: '127.0.0.1:7800', dns: x, fills: '10.0.0.1:7801'} | cluster.tls: is missing",
            "cluster: {listen: '127.0.0.1:7800', dns: x, fills: '127.0.0.1:7800'} | cluster.fills: is the port of cluster.listen, too",
            "admin: {listen: '127.0.0.1:9000'} | admin.listen: is the port of gateway.listen, too, 9000; it needs its own",
            "admin: {listen: '[::]:9901'} | admin.listen: is the port of gateway.health, too",
            "cluster: {listen: '127.0.0.1:9902', dns: x} | cluster.listen: is the port of admin.listen, too",
            "cluster: {listen: '127.0.0.1:7800', dns: x, fills: '127.0.0.1:9000'} | cluster.fills: is the port of gateway.listen, too",
            "cluster: {listen: '127.0.0.1:7800', dns: x, endpoint: 'http://a'} | cluster.endpoint: is of no use without cluster.fills",
            "cluster: {listen: '127.0.0.1:7800', dns: x, fills: '127.0.0.1:7801', endpoint: 'a:9000'} | cluster.endpoint: 'a:9000' is not an address such as",
            "cluster: {listen: '127.0.0.1:7800', dns: x, fills: '127.0.0.1:7801', endpoint: 'http://u@a'} | cluster.endpoint: 'http://u@a' is not an",
            "cluster: {listen: '127.0.0.1:7800', dns: x, fills: '127.0.0.1:7801', endpoint: 'http://a/x'} | cluster.endpoint: 'http://a/x' is not an",
            "cluster: {listen: '10.0.0.1:7800', dns: x, tls: {certificate: ca.pem, key: ca.pem}} | cluster.tls.client_ca: is missing",
    })
    void aBadValueIsOneLineNamingItsKey(String yaml, String line) throws IOException {
        assertThat(refusal(GATEWAY + BACKENDS + yaml)).startsWith("railhead.yaml").contains(line);
    }

    @Test
    void listenersShareNoPort() throws Exception {
        assertThat(refusal(BACKENDS + "gateway: {credentials: credentials.yaml,"
                + " listen: '127.0.0.1:9000', health: '127.0.0.1:9000'}"))
                .contains("gateway.health: is the port of gateway.listen, too, 9000");
        String elsewhere = BACKENDS + "gateway: {credentials: credentials.yaml,"
                + " listen: '10.0.0.1:9000', health: '127.0.0.1:0'}\n";
        assertThat(load(elsewhere + "admin: {listen: '127.0.0.1:9000'}").admin().listen().port())
                .isEqualTo(9000);
        assertThat(load(elsewhere + "admin: {listen: '127.0.0.1:0'}").admin().listen().port())
                .isZero();
        assertThat(load(GATEWAY + BACKENDS + "admin: {enabled: false, listen: '0.0.0.0:9000'}")
                .admin()
                .enabled()).isFalse();
    }

    @Test
    void aSoleGatewayHasNoCluster() throws Exception {
        assertThat(refusal(BACKENDS + "gateway: {credentials: credentials.yaml, sole: true}\n"
                + "rules: [{freshness: {exclusive: 1h}}]\n"
                + "cluster: {listen: '127.0.0.1:7800', dns: x}"))
                .contains("gateway.sole: cannot be true with cluster: several gateways write");
        assertThat(load(GATEWAY + BACKENDS).cluster()).isNull();
        GatewayConfig.Cluster cluster = load(GATEWAY + BACKENDS
                + "cluster: {listen: '127.0.0.1:7800', members: ['127.0.0.1:7800', 'h:7800']}")
                .cluster();
        assertThat(cluster).isEqualTo(new GatewayConfig.Cluster("railhead",
                new ListenAddress("127.0.0.1", 7800), List.of(
                        new ListenAddress("127.0.0.1", 7800), new ListenAddress("h", 7800)),
                null, null, null, null));
        assertThat(load(GATEWAY + BACKENDS
                + "cluster: {listen: '127.0.0.1:7800', dns: x, fills: '127.0.0.1:7801'}")
                .cluster()).extracting(GatewayConfig.Cluster::fills)
                .isEqualTo(new ListenAddress("127.0.0.1", 7801));
        assertThat(load(BACKENDS + "gateway: {credentials: credentials.yaml, name: g-0}\n"
                + "cluster: {listen: '127.0.0.1:7800', dns: x, fills: '127.0.0.1:7801',"
                + " endpoint: 'https://{name}.rack:9000'}").cluster())
                .extracting(GatewayConfig.Cluster::endpoint)
                .isEqualTo("https://g-0.rack:9000");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "{credentials: nowhere.yaml}  | gateway.credentials: no such file: ",
            "{authentication: none} | gateway.authentication: 'none' is not one of pass_through, tr",
            "{authentication: trusted_network} | gateway.trusted_network.principal: is missing; name",
            "{authentication: pass_through, policy: policy.json} | gateway.policy: cannot be held",
            "{trusted_network: {principal: a}} | gateway.trusted_network.principal: has no meaning",
            "{policy: nowhere.json} | gateway.policy: no such file",
            "{max_header: 1}              | gateway.max_header: must be 4KiB to 1MiB",
            "{idle_timeout: 500us}        | gateway.idle_timeout: must be at least 1ms",
            "{warm_up: 61s}               | gateway.warm_up: must be at most 60s: it delays each start",
            "{idle_timeout: 25d}          | gateway.idle_timeout: must be at most 24d",
            "{idle_timeout: 50d}          | gateway.idle_timeout: must be at most 24d",
            "{idle_timeout: 36501d}       | gateway.idle_timeout: '36501d' is not a duration",
            "{idle_timeout: 9223372036854775807d} | gateway.idle_timeout: '9223372036854775807d' is",
            "{domains: ['.x']}            | gateway.domains: '.x' is not a host name",
            "{domains: [5]}               | gateway.domains: must be a list of texts",
    })
    void aBadFrontDoorIsOneLineNamingItsKey(String gateway, String line) throws IOException {
        String yaml = gateway.contains("credentials")
                ? gateway
                : gateway.replaceFirst("\\{", "{credentials: credentials.yaml, ");
        assertThat(refusal("gateway: " + yaml + "\n" + BACKENDS)).contains(line);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "{}                                 | backends: is missing",
            "{a: {}}                            | backends.a.endpoints: needs at least one",
            "{a: {endpoint: 'http://h'}}        | backends.a.endpoint: unknown key; did you mean backends.a.endpoints?",
            "{a: {endpoint: ['http://h'], region: r}} | backends.a.endpoint: unknown key; did you mean backends.a.endpoints?",
            "{a: {endpoints: ['s3:80']}}        | backends.a.endpoints: 's3:80' is not scheme, host",
            "{a: {endpoints: ['http://h:70000']}} | backends.a.endpoints: 'http://h:70000' is not",
            "{a: {endpoints: ['http://h/p']}}   | backends.a.endpoints: 'http://h/p' is not scheme",
            "{a: {endpoints: ['ht tp://h']}}    | backends.a.endpoints: 'ht tp://h' is not scheme",
            "{a: {endpoints: ['http://h','http://h']}} | backends.a.endpoints: 'http://h' appears twice",
            "{a: {endpoints: ['http://h'], ca: x.pem}} | backends.a.ca: no such file: ",
            "{a: {endpoints: ['http://h'], rate: {request: 5}}} | backends.a.rate.request: unknown key; did you mean backends.a.rate.requests?",
            "{a: {endpoints: ['http://h'], rate: {requests: -1}}} | backends.a.rate.requests: must be 0 to 1000000000: -1",
            "{a: {endpoints: ['http://h'], rate: {bytes: 2000TiB}}} | backends.a.rate.bytes: must be at most 1024GiB: 2000TiB",
            "{a: {endpoints: ['http://h'], region: 5}} | backends.a.region: must be text; put it in",
    })
    void aBadStoreIsOneLineNamingItsKey(String backends, String line) throws IOException {
        assertThat(refusal(GATEWAY + "backends: " + backends)).contains(line);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "{tenants: {default: {requests: 1}}} | tenants.default: is no tenant",
            "{tenants: {t: {byte: 1}}}           | tenants.t.byte: unknown key; did you mean gateway.admission.rate.tenants.t.bytes?",
            "{requests: many}                    | requests: 'many' is not a whole number",
            "{bytes: 1GB}                        | bytes: '1GB' is not a size such as",
    })
    void aBadRateIsOneLineNamingItsKey(String rate, String line) throws IOException {
        String gateway = "gateway: {credentials: credentials.yaml, admission: {rate: " + rate
                + "}}\n";
        assertThat(refusal(gateway + BACKENDS)).contains("gateway.admission.rate." + line);
    }

    @Test
    void whoHoldsNoSecretCannotAskForChecksums() throws Exception {
        assertThat(refusal("gateway: {authentication: pass_through}\n" + BACKENDS
                + "rules: [{bucket: b}, {verify_fills: on}]")).contains("rules[1].verify_fills");
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
    void aSectionWhoseKeysAreCommentedOutHasItsDefaults() throws Exception {
        assertThat(load(GATEWAY + BACKENDS + "cache:\n#  memory: 1GiB\nrules:\n").cache())
                .isEqualTo(load(GATEWAY + BACKENDS).cache());
    }

    @Test
    void hugePagesOfNoSizeAndMemoryThatIsNoMultipleAreRefused() throws Exception {
        assertThat(cacheRefusal("huge_pages: 4MiB"))
                .endsWith("cache.huge_pages: '4MiB' is not one of off, 2MiB, 1GiB");
        assertThat(cacheRefusal("huge_pages: on"))
                .endsWith("cache.huge_pages: 'on' is not one of off, 2MiB, 1GiB");
        assertThat(cacheRefusal("huge_pages: 1GiB, memory: 1536MiB")).endsWith(
                "cache.memory: must be a multiple of 1GiB under cache.huge_pages: 1536MiB");
        assertThat(load(GATEWAY + "cache: {huge_pages: off}\n" + BACKENDS).cache().hugePages())
                .isNull();
    }

    @Test
    void aStoreUnderAMisspeltSectionIsAskedForByItsName() throws Exception {
        assertThat(refusal(GATEWAY + "backend: {a: {endpoints: ['http://h']}}"))
                .contains("backend: unknown key; did you mean backends?");
    }

    @Test
    void aSocketThatTheKernelWouldNotTakeIsNamed() throws Exception {
        String longest = "/" + "s".repeat(98);
        assertThat(load(GATEWAY + BACKENDS + "rdma: {loopback: {socket: " + longest + "}}").rdma()
                .loopback()
                .socket()).isEqualTo(Path.of(longest));
        assertThat(refusal(GATEWAY + BACKENDS + "rdma: {loopback: {socket: " + longest + "s}}"))
                .contains("rdma.loopback.socket: must be at most 99 bytes long, and is 100");
        assertThat(refusal(GATEWAY + BACKENDS + "rdma: {loopback: {socket: /"
                + "é".repeat(50) + "}}")).contains("and is 101");
    }

    private String cacheRefusal(String settings) throws IOException {
        return refusal(GATEWAY + "cache: {" + settings + "}\n" + BACKENDS);
    }

    private String gatewayRefusal(String settings) throws IOException {
        return refusal("gateway: {credentials: credentials.yaml, " + settings + "}\n" + BACKENDS);
    }

    @Test
    void filesOfTheFrontDoorMustBeNamedAndThere() throws Exception {
        assertThat(gatewayRefusal("events: {enabled: true}"))
                .contains("gateway.events.token_file: is missing");
        assertThat(gatewayRefusal("events: {enabled: true, token_file: none}"))
                .contains("gateway.events.token_file: no such file");
        assertThat(gatewayRefusal("tls: {certificate: ca.pem}"))
                .contains("gateway.tls.key: is missing");
        assertThat(gatewayRefusal("tls: {certificate: none, key: ca.pem}"))
                .contains("gateway.tls.certificate: no such file");
        assertThat(gatewayRefusal("tls: {certificate: ca.pem, key: ca.pem, client_ca: none}"))
                .contains("gateway.tls.client_ca: no such file");
    }

    @Test
    void exclusiveIsServedByWhoIsSole() throws Exception {
        GatewayConfig config = load("gateway: {credentials: credentials.yaml, sole: true}\n"
                + BACKENDS + "rules: [{freshness: {exclusive: 1h}, cache: reads+writes}]\n");
        assertThat(config.rules().all().getFirst().freshness())
                .isEqualTo(new Freshness.Exclusive(Duration.ofHours(1)));
        assertThat(config.rules().all().getFirst().cache())
                .isEqualTo(CacheMode.READS_AND_WRITES);
    }
}
