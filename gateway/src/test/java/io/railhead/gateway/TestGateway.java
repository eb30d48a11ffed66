package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.MemoryStats;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.identity.CredentialStore;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/** A gateway on ports of its own, from a configuration written as a user would write it. */
final class TestGateway implements AutoCloseable {
    private final Path directory;
    private final String settings;
    private final CredentialStore credentials;
    private final Gateway gateway;
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .build();

    /**
     * @param yaml of {@code backends} and {@code rules}, and what else differs from the tests'
     *            defaults
     */
    TestGateway(String yaml, String principals) {
        this("", yaml, principals);
    }

    /** @param settings of {@code gateway}, each line indented by two */
    TestGateway(String settings, String yaml, String principals) {
        this(settings, yaml, principals, System::nanoTime);
    }

    TestGateway(String settings, String yaml, String principals, LongSupplier nanoClock) {
        this(settings, yaml, principals, Environment.REAL.withClock(nanoClock));
    }

    TestGateway(String settings, String yaml, String principals, Environment environment) {
        this.settings = settings;
        try {
            directory = Files.createTempDirectory("railhead-test");
            Files.writeString(directory.resolve("credentials.yaml"), principals);
            Path config = write(yaml);
            credentials = CredentialStore.open(ConfigLoader.load(config).gateway());
            gateway = Gateway.start(ConfigLoader.load(config), credentials, environment);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ConfigException e) {
            throw new IllegalStateException(e);
        }
    }

    private Path write(String yaml) throws IOException {
        return Files.writeString(directory.resolve("railhead.yaml"),
                DEFAULTS.replace("  SETTINGS\n", settings)
                        .replace("SOCKET", socket().toString()) + yaml);
    }

    /** Another configuration, as the constructor takes it, is put in force. */
    void reconfigure(String yaml) throws ConfigException {
        try {
            gateway.reload(ConfigLoader.load(write(yaml)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** In front of one store, for one principal, whose key is AK with the secret SK. */
    static TestGateway over(URI store) {
        return over(store, "");
    }

    /** @param rules the section of that name */
    static TestGateway over(URI store, String rules) {
        return new TestGateway("""
                cache:
                  memory: 64MiB
                backends:
                  store:
                    endpoints: [%s]
                """.formatted(store) + rules, TRAINER);
    }

    /** One principal, whose key is AK with the secret SK. */
    static final String TRAINER = """
            principals:
              - name: trainer
                keys: [{access_key: AK, secret_key: SK}]
            """;

    private static final String DEFAULTS = """
            gateway:
              listen: 127.0.0.1:0
              health: 127.0.0.1:0
              credentials: credentials.yaml
              event_loops: 2
              drain: 5s
              SETTINGS
            admin:
              listen: 127.0.0.1:0
            rdma:
              loopback:
                socket: SOCKET
            """;

    Path socket() {
        return directory.resolve("loopback.sock");
    }

    Path directory() {
        return directory;
    }

    URI endpoint() {
        return URI.create("http://127.0.0.1:" + gateway.port());
    }

    URI health() {
        return URI.create("http://127.0.0.1:" + gateway.healthPort());
    }

    URI admin() {
        return URI.create("http://127.0.0.1:" + gateway.adminPort());
    }

    CredentialStore credentials() {
        return credentials;
    }

    Iterable<? extends Executor> eventLoops() {
        return gateway.eventLoops();
    }

    MemoryStats memory() {
        return gateway.memory().stats();
    }

    TestClient client(String accessKey, String secretKey) {
        return new TestClient(endpoint(), accessKey, secretKey);
    }

    /** Everything {@code /metrics} says. */
    String metrics() {
        return http.sendAsync(HttpRequest.newBuilder(health().resolve("/metrics")).build(),
                HttpResponse.BodyHandlers.ofString())
                .join()
                .body();
    }

    /** The value of one series, named as /metrics names it; 0 until what it counts happens. */
    double metric(String series) {
        return metric(metrics(), series);
    }

    static double metric(String metrics, String series) {
        String name = series.replaceFirst("(_(bucket|count|sum))?(\\{.*)?$", "");
        if (!metrics.contains("# TYPE " + name + " ")) {
            throw new AssertionError("nothing is called " + name);
        }
        return metrics.lines()
                .filter(line -> line.startsWith(series + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(series.length() + 1)))
                .findFirst()
                .orElse(0);
    }

    /** What the status page is drawn from; for a second the same. */
    JsonObject status() {
        return new JsonObject(http.sendAsync(
                HttpRequest.newBuilder(admin().resolve("/status.json")).build(),
                HttpResponse.BodyHandlers.ofString()).join().body());
    }

    /** After a request its last lease ends a moment later, on another thread. */
    void assertNoLease() {
        await(() -> memory().leases() == 0);
        assertThat(memory().condemnedBytes()).isZero();
    }

    static void await(BooleanSupplier condition) {
        Instant deadline = Instant.now().plus(Duration.ofSeconds(20));
        while (!condition.getAsBoolean()) {
            assertThat(Instant.now()).as("deadline").isBefore(deadline);
            Thread.onSpinWait();
        }
    }

    /** Whether it came; it did not where whoever waits is to end. */
    static boolean await(CountDownLatch latch) {
        try {
            assertThat(latch.await(2, TimeUnit.MINUTES)).as("deadline").isTrue();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** What it has written to a file of its folder once it is closed. */
    String closeAndRead(String file) {
        gateway.close();
        try {
            return Files.readString(directory.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        gateway.close();
        credentials.close();
        try (var files = Files.walk(directory)) {
            for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
