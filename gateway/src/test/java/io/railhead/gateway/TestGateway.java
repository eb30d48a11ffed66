package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.S3ProxyProcess;
import io.railhead.backend.testing.ScriptedStore;
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
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A gateway on ports of its own, in front of a test's store. Its configuration is written as a user
 * would write it.
 *
 * <p>As a field with {@code @RegisterExtension} it starts before each test, or before all of them
 * if the field is static. After each test nothing may be in flight, and no page leased. Then
 * clients, gateway and store are closed, in this order, even if one of them fails. A test that
 * needs a gateway for a part of its time calls {@link #start} and {@link #close} itself.
 *
 * {@snippet :
 * private final FakeStore store = new FakeStore();
 * @RegisterExtension
 * private final TestGateway gateway = TestGateway.over(store).config("""
 *         rules: [{bucket: held, freshness: immutable}]
 *         """);
 * private final TestClient client = gateway.client();
 * }
 */
final class TestGateway implements AutoCloseable, BeforeAllCallback, BeforeEachCallback,
        AfterEachCallback, AfterAllCallback {
    /** One principal, whose key is AK with the secret SK. */
    static final String TRAINER = """
            principals:
              - name: trainer
                keys: [{access_key: AK, secret_key: SK}]
            """;

    private final Supplier<URI> store;
    private final Map<String, String> files = new LinkedHashMap<>();
    private final Deque<AutoCloseable> clients = new ArrayDeque<>();
    private final Deque<AutoCloseable> stores = new ArrayDeque<>();
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .build();
    private String config = "";
    private Environment environment = Environment.REAL;
    private boolean isShared;
    private volatile @Nullable Running running;

    /** What one start made. */
    private record Running(Path directory, CredentialStore credentials, Gateway gateway) {}

    private TestGateway(Supplier<URI> store) {
        this.store = store;
        principals(TRAINER);
    }

    static TestGateway over(FakeStore ownedStore) {
        return new TestGateway(ownedStore::endpoint).owning(ownedStore);
    }

    static TestGateway over(ScriptedStore ownedStore) {
        return new TestGateway(ownedStore::endpoint).owning(ownedStore);
    }

    static TestGateway over(S3ProxyProcess ownedStore) {
        return new TestGateway(ownedStore::endpoint).owning(ownedStore);
    }

    /** In front of a store that somebody else closes. */
    static TestGateway inFrontOf(URI store) {
        return new TestGateway(() -> store);
    }

    // TRANSITION
    TestGateway(String yaml, String principals) {
        this("", yaml, principals);
    }

    TestGateway(String settings, String yaml, String principals) {
        this(settings, yaml, principals, System::nanoTime);
    }

    TestGateway(String settings, String yaml, String principals, LongSupplier nanoClock) {
        this(settings, yaml, principals, Environment.REAL.withClock(nanoClock));
    }

    TestGateway(String settings, String yaml, String principals, Environment environment) {
        this(() -> URI.create("http://127.0.0.1:1"));
        config((settings.isEmpty() ? "" : "gateway:\n" + settings)
                + (yaml.startsWith("  ") ? "rdma:\n" : "") + yaml).principals(principals)
                .environment(environment)
                .start();
    }

    static TestGateway over(URI store) {
        return inFrontOf(store).start();
    }

    static TestGateway over(URI store, String rules) {
        return inFrontOf(store).config(rules).start();
    }
    // TRANSITION

    /** Closes {@code store} after the gateway, the first one first. */
    TestGateway owning(AutoCloseable store) {
        stores.add(store);
        return this;
    }

    /** @param overrides what differs from the tests' defaults: see {@link TestConfig} */
    TestGateway config(String overrides) {
        config = overrides;
        return this;
    }

    /** @param yaml the whole file of credentials */
    TestGateway principals(String yaml) {
        return file("credentials.yaml", yaml);
    }

    /** A file beside the configuration, which names it without a folder. */
    TestGateway file(String name, String content) {
        files.put(name, content);
        return this;
    }

    TestGateway clock(LongSupplier nanoClock) {
        return environment(environment.withClock(nanoClock));
    }

    TestGateway environment(Environment other) {
        environment = other;
        return this;
    }

    TestGateway start() {
        Path directory = null;
        CredentialStore credentials = null;
        try {
            directory = Files.createTempDirectory("railhead-test");
            for (Map.Entry<String, String> file : files.entrySet()) {
                Files.writeString(directory.resolve(file.getKey()), file.getValue());
            }
            Path yaml = write(directory, config);
            credentials = CredentialStore.open(ConfigLoader.load(yaml).gateway());
            Gateway gateway = Gateway.start(ConfigLoader.load(yaml), credentials, environment);
            running = new Running(directory, credentials, gateway);
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ConfigException e) {
            throw new IllegalStateException(e);
        } finally {
            if (running == null) {
                undo(credentials, directory);
            }
        }
    }

    private Path write(Path directory, String overrides) throws IOException {
        return Files.writeString(directory.resolve("railhead.yaml"),
                TestConfig.text(overrides, store.get(), socket(directory)));
    }

    private static void undo(@Nullable CredentialStore credentials, @Nullable Path directory) {
        if (credentials != null) {
            credentials.close();
        }
        if (directory == null) {
            return;
        }
        try (var files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends the gateway alone; its clients and its store can go on with the next {@link #start}. */
    void stop() {
        Running ended = running;
        if (ended == null) {
            return;
        }
        running = null;
        try {
            ended.gateway.close();
        } finally {
            undo(ended.credentials, ended.directory);
        }
    }

    /** Starts it again, with another configuration. */
    TestGateway restart(String overrides) {
        stop();
        return config(overrides).start();
    }

    /** Other overrides of the tests' defaults are put in force. */
    void reconfigure(String overrides) throws ConfigException {
        try {
            Running now = running();
            now.gateway.reload(ConfigLoader.load(write(now.directory, overrides)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Closes {@code client} before the gateway, the last one first. */
    <T extends AutoCloseable> T closing(T client) {
        clients.push(client);
        return client;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        isShared = true;
        start();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        if (!isShared) {
            start();
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        if (isShared) {
            assertIdle();
            return;
        }
        try (this) {
            closeAll(clients);
            assertIdle();
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        close();
    }

    @Override
    public void close() {
        try {
            closeAll(clients);
        } finally {
            try {
                stop();
            } finally {
                closeAll(stores);
            }
        }
    }

    private static void closeAll(Deque<AutoCloseable> all) {
        IllegalStateException failures = new IllegalStateException("not closed");
        while (!all.isEmpty()) {
            try {
                all.pop().close();
            } catch (Exception e) {
                failures.addSuppressed(e);
            }
        }
        if (failures.getSuppressed().length > 0) {
            throw failures;
        }
    }

    private Running running() {
        Running now = running;
        if (now == null) {
            throw new IllegalStateException("the gateway does not run");
        }
        return now;
    }

    private static Path socket(Path directory) {
        return directory.resolve("loopback.sock");
    }

    Path socket() {
        return socket(directory());
    }

    Path directory() {
        return running().directory;
    }

    URI endpoint() {
        return URI.create("http://127.0.0.1:" + running().gateway.port());
    }

    URI health() {
        return URI.create("http://127.0.0.1:" + running().gateway.healthPort());
    }

    URI admin() {
        return URI.create("http://127.0.0.1:" + running().gateway.adminPort());
    }

    CredentialStore credentials() {
        return running().credentials;
    }

    Iterable<? extends Executor> eventLoops() {
        return running().gateway.eventLoops();
    }

    MemoryStats memory() {
        return running().gateway.memory().stats();
    }

    /** With the key of {@link #TRAINER}. */
    TestClient client() {
        return client("AK", "SK");
    }

    /** It may be made before the gateway starts. */
    TestClient client(String accessKey, String secretKey) {
        return new TestClient(this::endpoint, accessKey, secretKey);
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

    /** No request is in flight, and no page leased; a gateway that does not run is idle. */
    private void assertIdle() {
        if (running != null) {
            await(() -> metric("railhead_requests_in_flight") == 0);
            assertNoLease();
        }
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

    /** What it has written to a file of its folder by its end. */
    String stopAndRead(String file) {
        assertIdle();
        Path path = directory().resolve(file);
        running().gateway.close();
        try {
            return Files.readString(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            stop();
        }
    }
}
