package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.auth.CredentialStore;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code serve} as a process: how it starts, why it does not, and how it stops. */
class LifecycleIT {
    private static final Pattern PORTS = Pattern.compile(
            "serves S3 on 127\\.0\\.0\\.1:(\\d+), health and metrics on 127\\.0\\.0\\.1:(\\d+)");

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
        Files.writeString(folder.resolve("credentials.yaml"), """
                principals:
                  - name: trainer
                    keys: [{access_key: AK, secret_key: SK}]
                """);
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

    private Process serve(Path config) throws IOException {
        String java = ProcessHandle.current().info().command().orElseThrow();
        return new ProcessBuilder(java, "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), ServeMain.class.getName(),
                config.toString())
                .redirectError(folder.resolve("stderr").toFile())
                .start();
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
                Gateway.start(loaded, credentials, () -> {
                    throw broken;
                }).close();
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
            awaitQuietly(release);
            return false;
        });
        Process process = serve(config("127.0.0.1:0", "127.0.0.1:0", "cache: {memory: 64MiB}"));
        try (BufferedReader out = process.inputReader()) {
            Matcher ports = ports(out);
            TestClient client = new TestClient(URI.create("http://127.0.0.1:" + ports.group(1)),
                    "AK", "SK");
            URI ready = URI.create("http://127.0.0.1:" + ports.group(2) + "/readyz");
            TestGateway.await(() -> status(ready) == 200);
            CompletableFuture<HttpResponse<byte[]>> underWay = client.sendAsync("GET", "/b/key",
                    new byte[0]);
            held.await();

            process.destroy();

            TestGateway.await(() -> status(ready) == 503);
            release.countDown();
            assertThat(underWay.get(30, TimeUnit.SECONDS).body()).isEqualTo(object);
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void itsLogIsOneJsonObjectALineIfSoConfigured() throws Exception {
        Process process = serve(config("127.0.0.1:0", "127.0.0.1:0", "log: {format: json}"));
        try (BufferedReader out = process.inputReader()) {
            ports(out);
            process.toHandle().destroy();
            List<JsonObject> lines = out.lines()
                    .filter(line -> line.startsWith("{"))
                    .map(JsonObject::new)
                    .toList();
            assertThat(lines).anySatisfy(line -> {
                assertThat(line.getString("message")).isEqualTo("draining");
                assertThat(line.getString("level")).isEqualTo("INFO");
                assertThat(line.getString("logger_name")).endsWith(".Serve");
                assertThat(Instant.parse(line.getString("@timestamp")))
                        .isAfter(Instant.EPOCH);
            });
        } finally {
            process.destroyForcibly();
        }
    }

    private static Matcher ports(BufferedReader out) throws IOException {
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            Matcher matcher = PORTS.matcher(line);
            if (matcher.find()) {
                return matcher;
            }
        }
        throw new AssertionError("it ended before it served");
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static int status(URI uri) {
        try {
            return HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(uri).build(),
                            HttpResponse.BodyHandlers.discarding())
                    .statusCode();
        } catch (IOException e) {
            return 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }

    private void refuses(Path config, String key) throws Exception {
        Process process = serve(config);
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isEqualTo(1);
            assertThat(Files.readAllLines(folder.resolve("stderr")))
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
