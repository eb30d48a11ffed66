package io.railhead.gateway;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.sun.net.httpserver.HttpServer;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.gateway.config.ConfigException;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Effects of a changed configuration on a running gateway. */
class ReloadIT {
    private final Set<Thread> before = storeThreads();
    private static final int BUFFER = 1 << 20;
    private static final byte[] OLD = {1, 2, 3, 4};
    private static final byte[] NEW = {5, 6, 7, 8};

    private static final String SOLE = "gateway: {sole: true}\n";

    private final FakeStore store = new FakeStore();
    private final FakeStore other = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store)
            .owning(other)
            .config(SOLE + rule("freshness: immutable"))
            .principals("""
                    principals:
                      - name: trainer
                        keys: [{access_key: AK, secret_key: SK}]
                      - name: second
                        keys: [{access_key: AK2, secret_key: SK}]
                    """);
    private final TestClient client = gateway.client();
    private TestPeer peer;

    @BeforeEach
    void start() {
        store.put("/b/object", OLD);
        peer = gateway.closing(new TestPeer(client, "SK", BUFFER));
    }

    private static String rule(String says) {
        return "rules: [{" + says + "}]\n";
    }

    private static String stores(String... endpoints) {
        return "backends: {store: {endpoints: [" + String.join(", ", endpoints) + "]}}\n";
    }

    private void reconfigure(String overrides) throws ConfigException {
        gateway.reconfigure(SOLE + overrides);
    }

    private byte[] read() {
        HttpResponse<byte[]> answer = client.get("/b/object");
        assertThat(answer.statusCode()).isEqualTo(200);
        return answer.body();
    }

    private Answer ask() {
        return peer.ask(Request.get(0, "b", "object", peer.key(), 0, BUFFER));
    }

    private byte[] moved() {
        assertThat(ask().status()).isEqualTo(200);
        return peer.bytes(0, OLD.length);
    }

    @Test
    void aRuleThatAsksTheStoreHoldsFromTheNextRequestOnWhicheverWayItComes() throws Exception {
        assertThat(read()).isEqualTo(OLD);
        assertThat(moved()).isEqualTo(OLD);
        store.put("/b/object", NEW);
        assertThat(read()).isEqualTo(OLD);
        assertThat(moved()).isEqualTo(OLD);

        reconfigure(rule("freshness: strong"));
        assertThat(moved()).isEqualTo(NEW);
        assertThat(read()).isEqualTo(NEW);
    }

    @Test
    void whatWasHeldBeforeItWasCalledImmutableIsAskedForOnceMore() throws Exception {
        for (String promise : new String[]{"freshness: immutable", "freshness: {exclusive: 1h}"}) {
            store.put("/b/object", OLD);
            reconfigure(rule("freshness: strong"));
            assertThat(read()).isEqualTo(OLD);
            assertThat(moved()).isEqualTo(OLD);
            store.put("/b/object", NEW);

            reconfigure(rule(promise));
            assertThat(moved()).as(promise).isEqualTo(NEW);
            assertThat(read()).as(promise).isEqualTo(NEW);
            int asked = store.requests().size();
            assertThat(read()).isEqualTo(NEW);
            assertThat(store.requestsAfter(asked)).isEmpty();
        }
    }

    @Test
    void usageIsShownByTheNewPrices() throws Exception {
        String rule = rule("freshness: immutable");
        reconfigure(rule + "accounting: {prices: {currency: EUR, egress_per_gib: 1}}\n");
        read();
        read();
        double saved = gateway.metric("railhead_usage_saved_cost{currency=\"EUR\",}");
        assertThat(saved).isPositive();
        reconfigure(rule + "accounting: {prices: {currency: EUR, egress_per_gib: 3}}\n");
        assertThat(gateway.metric("railhead_usage_saved_cost{currency=\"EUR\",}"))
                .isEqualTo(3 * saved, within(1e-12));
        reconfigure(rule);
        assertThat(gateway.metrics()).doesNotContain("railhead_usage_saved_cost{");
    }

    @Test
    void aPromiseThatStandsCostsNobodyAQuestion() throws Exception {
        read();
        int asked = store.requests().size();
        reconfigure("""
                rules: [{freshness: immutable}]
                tracing: {endpoint: "http://127.0.0.1:9", sample: 0%}
                """);
        assertThat(read()).isEqualTo(OLD);
        assertThat(store.requestsAfter(asked)).isEmpty();
    }

    @Test
    void whatMayNotBeCachedAnyMoreIsRelayedAndForgottenByNoWrite() throws Exception {
        read();
        reconfigure(rule("freshness: immutable, cache: off"));
        assertThat(client.put("/b/object", NEW).statusCode()).isEqualTo(200);
        assertThat(read()).isEqualTo(NEW);
        reconfigure(rule("freshness: immutable"));
        assertThat(read()).isEqualTo(NEW);
    }

    @Test
    void rdmaThatIsOffIsDeclinedInASessionThatIsOpen() throws Exception {
        assertThat(moved()).isEqualTo(OLD);
        reconfigure(rule("freshness: immutable, rdma: off"));
        assertThat(ask()).extracting(Answer::status, Answer::code).containsExactly(0, "rule");
        reconfigure(rule("freshness: immutable"));
        assertThat(moved()).isEqualTo(OLD);
    }

    @Test
    void anObjectOfAnAccountIsAnothersNoMoreOnceTheyShareNothing() throws Exception {
        reconfigure(rule("freshness: immutable, shared: true"));
        read();
        reconfigure(rule("freshness: immutable, shared: false"));
        int asked = store.requests().size();
        assertThat(gateway.client("AK2", "SK").get("/b/object").body()).isEqualTo(OLD);
        assertThat(store.requestsAfter(asked)).contains("GET /b/object bytes=0-8388607");
    }

    @Test
    void nothingHeldOfAStoreIsServedAsAnothersThatTookItsName() throws Exception {
        other.put("/b/object", NEW);
        read();
        assertThat(moved()).isEqualTo(OLD);
        String others = stores(other.endpoint().toString()) + rule("freshness: immutable");
        reconfigure(others);
        assertThat(moved()).isEqualTo(NEW);
        assertThat(read()).isEqualTo(NEW);
        store.put("/b/object", new byte[]{9});
        reconfigure(rule("freshness: immutable"));
        assertThat(read()).containsExactly(9);
    }

    @Test
    void anEndpointMoreCostsNothingOfWhatIsHeld() throws Exception {
        read();
        int asked = store.requests().size();
        reconfigure(stores(store.endpoint().toString(), other.endpoint().toString())
                + rule("freshness: immutable"));
        assertThat(read()).isEqualTo(OLD);
        assertThat(store.requestsAfter(asked)).noneMatch(each -> each.contains("/b/object"));
    }

    @Test
    void aStoreThatIsRemovedEndsWithItsLastRequest() throws Exception {
        byte[] large = new byte[6 << 20];
        large[5 << 20] = 1;
        store.put("/b/large", large);
        reconfigure(rule("cache: off"));
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        store.fault((exchange, object) -> {
            if (object.length < large.length || exchange.getRequestMethod().equals("HEAD")) {
                return false;
            }
            try (OutputStream body = exchange.getResponseBody()) {
                exchange.getResponseHeaders().set("ETag", FakeStore.etag(object));
                exchange.sendResponseHeaders(200, object.length);
                body.write(object, 0, 1 << 20);
                body.flush();
                begun.countDown();
                TestGateway.await(goOn);
                body.write(object, 1 << 20, object.length - (1 << 20));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return true;
        });
        CompletableFuture<HttpResponse<byte[]>> slow = client.sendAsync("GET", "/b/large",
                new byte[0]);
        assertThat(TestGateway.await(begun)).isTrue();
        reconfigure("""
                backends:
                  another: {endpoints: [%s]}
                """.formatted(other.endpoint()));
        other.put("/b/object", NEW);
        assertThat(read()).isEqualTo(NEW);
        System.gc();
        assertThat(hasStoreThreads()).isTrue();
        goOn.countDown();
        assertThat(slow.get().body()).isEqualTo(large);
        // The longest that a connection to it may stay idle, and some time for the collector.
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
        while (hasStoreThreads() && System.nanoTime() - deadline < 0) {
            System.gc();
        }
        assertThat(hasStoreThreads()).isFalse();
        assertThat(gateway.metrics())
                .contains("railhead_backend_requests_total{backend=\"another\"")
                .doesNotContain("railhead_backend_requests_total{backend=\"store\"");
    }

    /** Threads of this test's store: those of another test's may still be ending. */
    private boolean hasStoreThreads() {
        return !before.containsAll(storeThreads());
    }

    private static Set<Thread> storeThreads() {
        return Thread.getAllStackTraces()
                .keySet()
                .stream()
                .filter(thread -> thread.getName().startsWith("backend-store-"))
                .collect(Collectors.toSet());
    }

    @Test
    void aKeyThatNeedsARestartIsNamedAndNothingOfTheFileIsUsed() throws Exception {
        read();
        store.put("/b/object", NEW);
        assertThatThrownBy(() -> reconfigure("""
                cache: {memory: 128MiB}
                rules: [{freshness: strong}]
                """)).isInstanceOf(ConfigException.class)
                .hasMessage("nothing of the file is used: cache.memory needs a restart");
        assertThat(read()).isEqualTo(OLD);
    }

    @Test
    void whatCannotBeUsedChangesNothing() throws Exception {
        read();
        assertThatThrownBy(() -> reconfigure("rules: [{backend: nobody}]\n"))
                .isInstanceOf(ConfigException.class);
        assertThatThrownBy(() -> reconfigure("""
                backends:
                  store: {ca: credentials.yaml}
                rules: [{freshness: strong}]
                """)).isInstanceOf(ConfigException.class)
                .hasMessageContaining("backends.store.ca");
        store.put("/b/object", NEW);
        assertThat(read()).isEqualTo(OLD);
    }

    @Test
    void anAuthorityWhoseFileHasChangedIsTrustedFromThenOn(@TempDir Path folder)
            throws Exception {
        TestCertificates certificates = new TestCertificates(folder).create("store", "EC")
                .create("other", "EC");
        Path ca = Files.copy(certificates.certificate("other"), folder.resolve("ca.pem"));
        try (ScriptedStore secure = new ScriptedStore(
                certificates.context(List.of("store"), "store").getServerSocketFactory(), "https",
                0, ScriptedStore.Script.status(200, "hello"))) {
            String yaml = """
                    backends:
                      store: {endpoints: [%s], ca: %s}
                    """.formatted(secure.endpoint(), ca);
            reconfigure(yaml);
            assertThat(client.get("/b/").statusCode()).isEqualTo(503);
            Files.copy(certificates.certificate("store"), ca, StandardCopyOption.REPLACE_EXISTING);
            reconfigure(yaml);
            assertThat(client.get("/b/").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void tracingBeginsAndEndsWithTheConfigurationThatNamesIt() throws Exception {
        Queue<String> heard = new ConcurrentLinkedQueue<>();
        HttpServer collector = HttpServer
                .create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        collector.createContext("/v1/traces", exchange -> {
            heard.add(new String(exchange.getRequestBody().readAllBytes(), ISO_8859_1));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        collector.start();
        try {
            String traced = "tracing: {endpoint: \"http://127.0.0.1:"
                    + collector.getAddress().getPort() + "\", sample: 100%}\n";
            client.get("/b/before");
            reconfigure(traced);
            client.get("/b/first");
            TestGateway.await(() -> String.join("", heard).contains("/b/first"));
            reconfigure("");
            client.get("/b/between");
            reconfigure(traced);
            client.get("/b/again");
            TestGateway.await(() -> String.join("", heard).contains("/b/again"));
            assertThat(String.join("", heard)).doesNotContain("/b/before", "/b/between");
        } finally {
            collector.stop(0);
        }
    }

    @Test
    void anotherLogLevelHoldsAtOnce() throws Exception {
        Logger ours = LoggerFactory.getLogger("io.railhead");
        try {
            reconfigure("log: {level: error}\n");
            assertThat(ours.isWarnEnabled()).isFalse();
            reconfigure("log: {level: warn}\n");
            assertThat(ours.isWarnEnabled()).isTrue();
            assertThat(ours.isInfoEnabled()).isFalse();
        } finally {
            reconfigure("log: {level: info}\n");
        }
    }

    @Test
    void theStatusPageAndTheMetricsShowWhatHoldsNow() throws Exception {
        reconfigure("""
                backends:
                  store: {}
                  more: {endpoints: [%s]}
                rules: [{bucket: m, backend: more}, {backend: store}]
                """.formatted(other.endpoint()));
        assertThat(gateway.metrics()).contains("railhead_backend_requests_total{backend=\"more\"");
        assertThat(gateway.status().encode()).contains("rules[0].backend", other.endpoint()
                .toString());
    }
}
