package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.S3ProxyProcess;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.cache.memory.MemoryStats;
import io.railhead.gateway.config.ConfigException;
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
public final class TestGateway
        implements
            AutoCloseable,
            BeforeAllCallback,
            BeforeEachCallback,
            AfterEachCallback,
            AfterAllCallback {
    /** One principal, whose key is AK with the secret SK. */
    public static final String TRAINER = """
            principals:
              - name: trainer
                keys: [{access_key: AK, secret_key: SK}]
            """;

    /** The same principal, whose memory may be read for uploads. */
    public static final String UPLOADER = TRAINER + """
                rdma_put: true
            """;
    /** Another principal, to follow one of these. */
    public static final String OTHER = """
              - name: other
                keys: [{access_key: OTHER, secret_key: other-secret}]
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
    private volatile @Nullable RunningGateway running;

    private TestGateway(Supplier<URI> store) {
        this.store = store;
        principals(TRAINER);
    }

    public static TestGateway over(FakeStore ownedStore) {
        return new TestGateway(ownedStore::endpoint).owning(ownedStore);
    }

    public static TestGateway over(ScriptedStore ownedStore) {
        return new TestGateway(ownedStore::endpoint).owning(ownedStore);
    }

    public static TestGateway over(S3ProxyProcess ownedStore) {
        return new TestGateway(ownedStore::endpoint).owning(ownedStore);
    }

    /** A gateway in front of a store that somebody else closes. */
    public static TestGateway over(URI store) {
        return new TestGateway(() -> store);
    }

    /** Closes {@code store} after the gateway, the first one first. */
    public TestGateway owning(AutoCloseable store) {
        stores.add(store);
        return this;
    }

    /** @param overrides what differs from the tests' defaults: see {@link TestConfig} */
    public TestGateway config(String overrides) {
        config = overrides;
        return this;
    }

    /** @param yaml the whole file of credentials */
    public TestGateway principals(String yaml) {
        return file("credentials.yaml", yaml);
    }

    /** A file beside the configuration, which names it without a folder. */
    public TestGateway file(String name, String content) {
        files.put(name, content);
        return this;
    }

    public TestGateway clock(LongSupplier nanoClock) {
        return environment(environment.withClock(nanoClock));
    }

    public TestGateway environment(Environment other) {
        environment = other;
        return this;
    }

    public TestGateway start() {
        try {
            running = RunningGateway.start(files, config, store.get(), environment);
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ConfigException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Ends the gateway alone; its clients and its stores stay for the next {@link #start}. */
    public void stop() {
        RunningGateway ended = running;
        if (ended == null) {
            return;
        }
        try {
            ended.close();
        } finally {
            running = null;
        }
    }

    /** Stops the gateway and starts it with another configuration. */
    public TestGateway restart(String overrides) {
        stop();
        return config(overrides).start();
    }

    /** Reloads a configuration: the tests' defaults with other overrides. */
    public void reconfigure(String overrides) throws ConfigException {
        try {
            running().reload(overrides, store.get());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Closes {@code client} before the gateway, the last one first. */
    public <T extends AutoCloseable> T closing(T client) {
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

    private RunningGateway running() {
        RunningGateway now = running;
        if (now == null) {
            throw new IllegalStateException("the gateway does not run");
        }
        return now;
    }

    public Path socket() {
        return running().socket();
    }

    /** The folder of the configuration and its files. */
    public Path directory() {
        return running().folder();
    }

    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + running().gateway().port());
    }

    public URI health() {
        return URI.create("http://127.0.0.1:" + running().gateway().healthPort());
    }

    public URI admin() {
        return URI.create("http://127.0.0.1:" + running().gateway().adminPort());
    }

    public CredentialStore credentials() {
        return running().credentials();
    }

    public Iterable<? extends Executor> eventLoops() {
        return running().gateway().eventLoops();
    }

    public MemoryStats memory() {
        return running().gateway().memory().stats();
    }

    /** A client with the key of {@link #TRAINER}. */
    public TestClient client() {
        return client("AK", "SK");
    }

    /** A client, which may be made before the gateway starts. */
    public TestClient client(String accessKey, String secretKey) {
        return new TestClient(this::endpoint, accessKey, secretKey);
    }

    /** Everything {@code /metrics} says. */
    public String metrics() {
        return http.sendAsync(HttpRequest.newBuilder(health().resolve("/metrics")).build(),
                HttpResponse.BodyHandlers.ofString())
                .join()
                .body();
    }

    /** The value of one series, named as /metrics names it; 0 until what it counts happens. */
    public double metric(String series) {
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
    public JsonObject status() {
        return new JsonObject(http.sendAsync(
                HttpRequest.newBuilder(admin().resolve("/status.json")).build(),
                HttpResponse.BodyHandlers.ofString()).join().body());
    }

    /** Asserts that no request is in flight and no page leased, if the gateway runs. */
    private void assertIdle() {
        if (running != null) {
            await(() -> metric("railhead_requests_in_flight") == 0);
            assertNoLease();
        }
    }

    /** After a request its last lease ends a moment later, on another thread. */
    public void assertNoLease() {
        await(() -> memory().leases() == 0);
        assertThat(memory().condemnedBytes()).isZero();
    }

    public static void await(BooleanSupplier condition) {
        Instant deadline = Instant.now().plus(Duration.ofSeconds(20));
        while (!condition.getAsBoolean()) {
            assertThat(Instant.now()).as("deadline").isBefore(deadline);
            Thread.onSpinWait();
        }
    }

    /** Whether it came; it did not where whoever waits is to end. */
    public static boolean await(CountDownLatch latch) {
        try {
            assertThat(latch.await(2, TimeUnit.MINUTES)).as("deadline").isTrue();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Stops the gateway and returns a file of its folder. */
    public String stopAndRead(String file) {
        assertIdle();
        Path path = directory().resolve(file);
        running().gateway().close();
        try {
            return Files.readString(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            stop();
        }
    }
}
