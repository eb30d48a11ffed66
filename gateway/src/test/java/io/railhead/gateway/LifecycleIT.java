package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.frontdoor.RawConnection;
import io.railhead.gateway.identity.CredentialStore;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code serve} as a process: how it starts, why it does not, and how it stops. */
class LifecycleIT {
    @TempDir
    private Path folder;

    private FakeStore store;

    @BeforeEach
    void start() {
        store = new FakeStore();
    }

    @AfterEach
    void stop() {
        store.close();
    }

    private Path config(String listen, String health, String more) throws IOException {
        Files.writeString(folder.resolve("credentials.yaml"), TestGateway.TRAINER);
        return Files.writeString(folder.resolve("railhead.yaml"), """
                gateway:
                  listen: %s
                  health: %s
                  credentials: credentials.yaml
                  drain: 20s
                rdma:
                  loopback:
                    socket: loopback.sock
                admin: {listen: 127.0.0.1:0}
                backends:
                  store:
                    endpoints: [%s]
                %s
                """.formatted(listen, health, store.endpoint(), more));
    }

    private static long eventLoops() {
        return Thread.getAllStackTraces()
                .keySet()
                .stream()
                .filter(thread -> thread.getName().startsWith("vert.x-eventloop"))
                .count();
    }

    /** Threads that are left would keep a process alive that has said why it does not serve. */
    @Test
    void aStartThatEndsInAnErrorLeavesNothingRunning() throws IOException {
        Path config = config("127.0.0.1:0", "127.0.0.1:0", "cache: {memory: 64MiB}");
        long before = eventLoops();
        Error broken = new NoClassDefFoundError("broken");
        assertThatThrownBy(() -> {
            GatewayConfig loaded = ConfigLoader.load(config);
            try (CredentialStore credentials = CredentialStore.open(loaded.gateway())) {
                Gateway.start(loaded, credentials, Environment.REAL.withClock(() -> {
                    throw broken;
                })).close();
            }
        }).isSameAs(broken);
        TestGateway.await(() -> eventLoops() == before);
    }

    @Test
    void aTermLetsWhatIsUnderWayFinishAndExitsWithZero() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        byte[] object = new byte[5_000_000];
        store.put("/b/key", object);
        store.fault((exchange, bytes) -> {
            held.countDown();
            TestGateway.await(release);
            return false;
        });
        try (GatewayProcess running = GatewayProcess
                .start(config("127.0.0.1:0", "127.0.0.1:0", "cache: {memory: 64MiB}"))) {
            TestClient client = new TestClient(running.endpoint(), "AK", "SK");
            TestGateway.await(running::isReady);
            CompletableFuture<HttpResponse<byte[]>> underWay = client.sendAsync("GET", "/b/key",
                    new byte[0]);
            held.await();

            running.drain();

            TestGateway.await(() -> !running.isReady());
            release.countDown();
            assertThat(underWay.get(30, TimeUnit.SECONDS).body()).isEqualTo(object);
            running.awaitEnd();
        }
    }

    /** Cut at the end of the drain, and no reason to call the stop a failure. */
    @Test
    void whoStopsReadingIsNotWaitedFor() throws Exception {
        byte[] object = new byte[32 << 20];
        store.put("/b/key", object);
        Path config = config("127.0.0.1:0", "127.0.0.1:0", "cache: {memory: 64MiB}");
        Files.writeString(config, Files.readString(config).replace("drain: 20s", "drain: 1s"));
        try (GatewayProcess running = GatewayProcess.start(config)) {
            TestClient client = new TestClient(running.endpoint(), "AK", "SK");
            assertThat(client.get("/b/key").body()).isEqualTo(object);
            String head = RawConnection.head(client.signed("GET", "/b/key", new byte[0]));
            try (RawConnection reader = new RawConnection(running.endpoint())) {
                assertThat(reader.send(head + "\r\n").receiveHead().status()).isEqualTo(200);
                running.terminate();
                assertThat(running.log()).doesNotContain("could not stop");
            }
        }
    }

    @Test
    void aClientHasOneHandshakeToAConnection() throws Exception {
        TestCertificates certificates = new TestCertificates(folder).create("own", "RSA");
        Path config = config("127.0.0.1:0", "127.0.0.1:0", "cache: {memory: 64MiB}");
        Files.writeString(config, Files.readString(config)
                .replace("  drain: 20s",
                        """
                                drain: 20s
                                tls: {certificate: %s, key: %s}"""
                                .formatted(certificates.certificate("own"),
                                        certificates.key("own"))
                                .indent(2)));
        try (GatewayProcess running = GatewayProcess.start(config);
                SSLSocket client = (SSLSocket) certificates.context(List.of("own"), null)
                        .getSocketFactory()
                        .createSocket("127.0.0.1", running.port())) {
            client.setEnabledProtocols(new String[]{"TLSv1.2"});
            client.startHandshake();
            assertThatThrownBy(() -> {
                client.startHandshake();
                client.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes());
                client.getInputStream().read();
            }).isInstanceOf(IOException.class);
        }
    }

    @Test
    void itsLogIsOneJsonObjectALineIfSoConfigured() throws Exception {
        try (GatewayProcess running = GatewayProcess
                .start(config("127.0.0.1:0", "127.0.0.1:0",
                        "log: {format: json, access: {file: stdout}}"))) {
            new TestClient(running.endpoint(), "AK", "SK").get("/b/none");
            running.terminate();
            List<JsonObject> lines = running.log()
                    .lines()
                    .map(JsonObject::new)
                    .toList();
            assertThat(lines).anySatisfy(line -> assertThat(line.getString("message"))
                    .startsWith("railhead is ready and serves S3 on "));
            assertThat(lines).anySatisfy(line -> {
                assertThat(line.getString("logger_name")).isEqualTo("access");
                assertThat(line.getString("message")).contains("\"GET /b/none HTTP/1.1\" 404");
            });
            assertThat(lines).anySatisfy(line -> {
                assertThat(line.getString("message")).isEqualTo("draining");
                assertThat(line.getString("level")).isEqualTo("INFO");
                assertThat(line.getString("logger_name")).endsWith(".Serve");
                assertThat(Instant.parse(line.getString("@timestamp")))
                        .isAfter(Instant.EPOCH);
            });
        }
    }

    @Test
    void whyItDoesNotStartIsAnObjectOfThatLogToo() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
            Path config = config("127.0.0.1:" + taken.getLocalPort(), "127.0.0.1:0",
                    "log: {format: json}");
            Process process = GatewayProcess.launch(config);
            try {
                assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(process.exitValue()).isEqualTo(1);
                assertThat(Files.readAllLines(GatewayProcess.log(config))).map(JsonObject::new)
                        .anySatisfy(line -> {
                            assertThat(line.getString("level")).isEqualTo("ERROR");
                            assertThat(line.getString("message")).startsWith("railhead: ")
                                    .contains("gateway.listen");
                        });
            } finally {
                process.destroyForcibly();
            }
        }
    }

    private void refuses(Path config, String key) throws Exception {
        Process process = GatewayProcess.launch(config);
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isEqualTo(1);
            assertThat(Files.readAllLines(GatewayProcess.log(config)))
                    .filteredOn(line -> line.startsWith("railhead: "))
                    .singleElement()
                    .asString()
                    .contains(key);
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void aPortInUseIsNamed() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
            String address = "127.0.0.1:" + taken.getLocalPort();
            refuses(config(address, "127.0.0.1:0", "cache: {memory: 64MiB}"), "gateway.listen");
            refuses(config("127.0.0.1:0", address, "cache: {memory: 64MiB}"), "gateway.health");
        }
    }

    @Test
    void moreMemoryThanThereIsIsNamed() throws Exception {
        refuses(config("127.0.0.1:0", "127.0.0.1:0", "cache: {memory: 4096GiB}"), "cache.memory");
    }

    @Test
    void aCredentialsFileThatIsNotThereIsNamed() throws Exception {
        Path config = config("127.0.0.1:0", "127.0.0.1:0", "");
        Files.delete(folder.resolve("credentials.yaml"));
        refuses(config, "gateway.credentials");
        assertThat(check(config)).isEqualTo(1);
    }

    @Test
    void aSocketFolderThatIsNotThereIsNamed() throws Exception {
        Path config = config("127.0.0.1:0", "127.0.0.1:0", "");
        Files.writeString(config,
                Files.readString(config).replace("loopback.sock", "missing/loopback.sock"));
        refuses(config, "rdma.loopback.socket");
        assertThat(check(config)).isEqualTo(1);
    }

    @Test
    void aBadConfigurationNamesItsKeyAndAGoodOneIsGood() throws Exception {
        refuses(config("127.0.0.1:0", "127.0.0.1:0", "cache: {memory: lots}"), "cache.memory");
        assertThat(check(config("127.0.0.1:0", "127.0.0.1:0", "cache: {memroy: 64MiB}")))
                .isEqualTo(1);
        assertThat(check(config("127.0.0.1:0", "127.0.0.1:0", ""))).isZero();
    }

    private static int check(Path config) {
        PrintStream nowhere = new PrintStream(new ByteArrayOutputStream(), true,
                StandardCharsets.UTF_8);
        return new Serve(nowhere, nowhere).check(config);
    }
}
