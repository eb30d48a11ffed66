package io.railhead.gateway.freshness;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Request;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is held and nobody asks about, until somebody writes through the gateway. */
class ExclusiveFreshnessIT {
    private static final Duration MAX_AGE = Duration.ofHours(1);
    private static final byte[] BEFORE = random(1);
    private static final byte[] BEHIND = random(2);
    private static final byte[] WRITTEN = random(3);

    private final AtomicLong now = new AtomicLong(1_000_000_000_000L);
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              sole: true
            rules:
              - bucket: ex
                freshness: {exclusive: 1h}
                authorization: {remember: 24h}
            """).principals(TestGateway.UPLOADER + TestGateway.OTHER).clock(now::get);
    private final TestClient client = gateway.client();

    @BeforeEach
    void start() {
        store.put("/ex/key", BEFORE);
        TestGateway.await(() -> store.count("GET / ") == 1); // the probe at the start
    }

    private static byte[] random(int seed) {
        return RandomBytes.random(seed, 10_000);
    }

    private byte[] get() {
        HttpResponse<byte[]> answer = client.get("/ex/key");
        assertThat(answer.statusCode()).isEqualTo(200);
        return answer.body();
    }

    /** Held, and then changed where the gateway cannot see it. */
    private void holdWhatIsOld() {
        assertThat(get()).isEqualTo(BEFORE);
        store.put("/ex/key", BEHIND);
        assertThat(get()).isEqualTo(BEFORE);
        now.incrementAndGet();
    }

    @Test
    void nobodyIsAskedUntilMaxAgeAndThenOneHeadIs() {
        assertThat(get()).isEqualTo(BEFORE);
        assertThat(client.head("/ex/key").statusCode()).isEqualTo(200);
        int asked = store.requests().size();
        now.addAndGet(MAX_AGE.toNanos() - 1);
        assertThat(get()).isEqualTo(BEFORE);
        assertThat(client.head("/ex/key").statusCode()).isEqualTo(200);
        assertThat(store.requests()).hasSize(asked);
        now.incrementAndGet();
        assertThat(get()).isEqualTo(BEFORE);
        assertThat(store.requests()).hasSize(asked + 1);
        assertThat(store.requests().getLast()).startsWith("HEAD /ex/key");
    }

    @ParameterizedTest
    @CsvSource({"PUT,/ex/key", "PUT,/ex/key?tagging", "PUT,/ex/key?acl", "PUT,/ex/key?retention",
            "PUT,/ex/key?legal-hold", "PUT,/ex/key?unheard-of", "PUT,/ex/other?renameObject",
            "DELETE,/ex/key?tagging", "DELETE,/ex/key?unheard-of", "DELETE,/ex/key?versionId=null",
            "POST,/ex/key?uploadId=1", "POST,/ex/key?restore", "POST,/ex/key?unheard-of",
            "PATCH,/ex/key", "PUT,/ex/key?uploadId=1", "DELETE,/ex/key?uploadId=",
            "PUT,/ex/key?uploadId=&partNumber=1", "PUT,/ex//key", "PUT,/ex/./key",
            "DELETE,/ex/a//key",
            "POST,/ex", "PUT,/ex?versioning", "DELETE,/ex?lifecycle"})
    void everyWriteIsSeenByTheNextRead(String method, String path) {
        holdWhatIsOld();
        assertThat(client.send(method, path, WRITTEN).statusCode()).isBetween(200, 204);
        now.incrementAndGet();
        byte[] stored = store.object("/ex/key");
        assertThat(get()).isEqualTo(stored);
        int asked = store.requests().size();
        assertThat(get()).isEqualTo(stored);
        assertThat(store.requests()).as("held again").hasSize(asked);
    }

    @ParameterizedTest
    @CsvSource({"PUT,/ex/key?uploadId=1&partNumber=1", "DELETE,/ex/key?uploadId=1",
            "POST,/ex/key?uploads", "POST,/ex/key?select&select-type=2", "GET,/ex/key?tagging",
            "GET,/ex?list-type=2"})
    void whatChangesNothingIsNoWrite(String method, String path) {
        holdWhatIsOld();
        client.send(method, path, method.equals("GET") ? new byte[0] : WRITTEN);
        assertThat(get()).isEqualTo(BEFORE);
    }

    @Test
    void aCopyAndADeletionOfManyAreWritesOfWhatTheyName() {
        store.put("/ex/source", WRITTEN);
        holdWhatIsOld();
        assertThat(client.put("/ex/key", new byte[0], "x-amz-copy-source", "/ex/source")
                .statusCode()).isEqualTo(200);
        assertThat(get()).isEqualTo(WRITTEN);
        store.put("/ex/key", BEHIND);
        client.send("POST", "/ex?delete", """
                <Delete><Object><Key>unrelated</Key></Object></Delete>
                """.getBytes(StandardCharsets.UTF_8));
        assertThat(get()).isEqualTo(WRITTEN);
        client.send("POST", "/ex?delete", """
                <Delete><Object><Key>unrelated</Key></Object><Object><VersionId>7</VersionId>
                <Key>key</Key></Object></Delete>
                """.getBytes(StandardCharsets.UTF_8));
        assertThat(get()).isEqualTo(BEHIND);
    }

    @Test
    void anotherAccountsWriteIsSeenToo() {
        holdWhatIsOld();
        assertThat(gateway.client("OTHER", "other-secret").put("/ex/key", WRITTEN).statusCode())
                .isEqualTo(200);
        assertThat(get()).isEqualTo(WRITTEN);
    }

    @Test
    void anUploadOutOfAClientsMemoryIsAWrite() {
        try (TestPeer peer = new TestPeer(client, "SK", 1 << 20)) {
            peer.set(0, WRITTEN);
            holdWhatIsOld();
            assertThat(client.put("/ex/key", new byte[0], peer.headers(0, WRITTEN.length))
                    .statusCode()).isEqualTo(200);
            assertThat(get()).isEqualTo(WRITTEN);
            store.put("/ex/key", BEHIND);
            assertThat(get()).isEqualTo(WRITTEN);
            assertThat(peer.ask(Request.put(0, "ex", "key", peer.key(), 0, WRITTEN.length,
                    Map.of()))
                    .status()).isEqualTo(200);
            assertThat(get()).isEqualTo(WRITTEN);
            assertThat(store.object("/ex/key")).isEqualTo(WRITTEN);
        }
    }

    @ParameterizedTest
    @CsvSource({"500", "503", "504", "520", "0"})
    void whileItIsUnknownWhetherAWriteHappenedEachReadAsks(int status) {
        holdWhatIsOld();
        store.fault((exchange, bytes) -> exchange.getRequestMethod().equals("PUT")
                && answer(exchange, status));
        assertThat(client.put("/ex/key", WRITTEN).statusCode()).isBetween(500, 520);
        assertThat(get()).isEqualTo(BEHIND);
        // The store had only been slow.
        store.put("/ex/key", WRITTEN);
        assertThat(get()).isEqualTo(WRITTEN);
    }

    /** As SDKs have it: a store that wants less is asked again. */
    @Test
    void aStoresOwnSlowDownIsTheEndOfAWrite() {
        holdWhatIsOld();
        store.fault((exchange, bytes) -> {
            boolean writes = exchange.getRequestMethod().equals("PUT");
            if (writes) {
                FakeStore.answerQuietly(exchange, 503);
            }
            return writes;
        });
        assertThat(client.put("/ex/key", WRITTEN).statusCode()).isEqualTo(503);
        assertThat(get()).isEqualTo(BEHIND);
        int asked = store.requests().size();
        assertThat(get()).isEqualTo(BEHIND);
        assertThat(store.requests()).as("held").hasSize(asked);
    }

    /** What it says is what became of its own connection to the store. */
    @Test
    void anotherGatewaysSlowDownIsNot() {
        holdWhatIsOld();
        store.fault((exchange, bytes) -> {
            boolean writes = exchange.getRequestMethod().equals("PUT");
            if (writes) {
                exchange.getResponseHeaders().set("x-railhead-request-id", "1");
                FakeStore.answerQuietly(exchange, 503);
            }
            return writes;
        });
        assertThat(client.put("/ex/key", WRITTEN).statusCode()).isEqualTo(503);
        assertThat(get()).isEqualTo(BEHIND);
        store.put("/ex/key", WRITTEN);
        assertThat(get()).isEqualTo(WRITTEN);
    }

    @ParameterizedTest
    @CsvSource({"POST,/ex,503", "POST,/ex,0", "PUT,/ex/a//b,504"})
    void evenWhereNobodyKnowsWhatItWrote(String method, String path, int status) {
        holdWhatIsOld();
        store.fault((exchange, bytes) -> exchange.getRequestMethod().equals(method)
                && answer(exchange, status));
        assertThat(client.send(method, path, WRITTEN).statusCode()).isBetween(500, 504);
        now.incrementAndGet();
        assertThat(get()).isEqualTo(BEHIND);
        store.put("/ex/key", WRITTEN);
        assertThat(get()).isEqualTo(WRITTEN);
    }

    /** A store may do by the head what needs no body. */
    @ParameterizedTest
    @CsvSource({"DELETE,/ex/key,x-amz-meta-a", "DELETE,/ex?lifecycle,x-amz-meta-a",
            "PUT,/ex/key,x-amz-copy-source"})
    void aDeletionOrCopyWhoseBodyIsWrongMayHaveHappened(String method, String path,
            String header) {
        holdWhatIsOld();
        assertThat(client.send(method, path, WRITTEN, header, "/ex/other",
                "x-amz-checksum-crc32", "AAAAAA==").statusCode()).isEqualTo(400);
        now.incrementAndGet();
        assertThat(client.get("/ex/key").body()).isNotEqualTo(BEFORE);
        store.put("/ex/key", WRITTEN);
        assertThat(get()).isEqualTo(WRITTEN);
    }

    /** A write whose answer was lost may land after others of which everybody was told. */
    @ParameterizedTest
    @CsvSource({"500", "503", "504", "520", "0"})
    void andNoAbsenceIsRememberedMeanwhile(int status) {
        store.fault((exchange, bytes) -> exchange.getRequestMethod().equals("PUT")
                && answer(exchange, status));
        assertThat(client.put("/ex/late", WRITTEN).statusCode()).isBetween(500, 520);
        assertThat(client.send("DELETE", "/ex/late", new byte[0]).statusCode()).isEqualTo(204);
        assertThat(client.get("/ex/late").statusCode()).isEqualTo(404);
        assertThat(client.head("/ex/late").statusCode()).isEqualTo(404);
        store.put("/ex/late", WRITTEN);
        assertThat(client.head("/ex/late").statusCode()).isEqualTo(200);
        assertThat(client.get("/ex/late").body()).isEqualTo(WRITTEN);
    }

    /** 0: none at all. */
    private static boolean answer(HttpExchange exchange, int status) {
        try {
            if (status == 0) {
                exchange.close();
            } else {
                // Said on the way to it, not by a store.
                exchange.getResponseHeaders().remove("x-amz-request-id");
                exchange.sendResponseHeaders(status, -1);
            }
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aReadThatJoinsAnOlderDiscoveryIsNotServedWhatAWriteHasReplaced() throws Exception {
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        store.fault((exchange, bytes) -> {
            if (exchange.getRequestMethod().equals("GET") && reached.getCount() > 0) {
                reached.countDown();
                TestGateway.await(release);
            }
            return false;
        });
        var early = client.sendAsync("GET", "/ex/key", new byte[0]);
        reached.await();
        assertThat(client.put("/ex/key", WRITTEN).statusCode()).isEqualTo(200);
        var joined = client.sendAsync("GET", "/ex/key", new byte[0]);
        TestGateway.await(() -> gateway.metric("railhead_requests_in_flight") == 2);
        release.countDown();
        assertThat(early.join().body()).isIn(BEFORE, WRITTEN);
        assertThat(joined.join().body()).isEqualTo(WRITTEN);
        assertThat(get()).isEqualTo(WRITTEN);
    }

    @Test
    void aVersionAskedForByItsIdIsAskedAboutEachTime() {
        client.get("/ex/key?versionId=7");
        int asked = store.requests().size();
        assertThat(client.get("/ex/key?versionId=7").statusCode()).isEqualTo(200);
        assertThat(store.requests()).hasSize(asked + 1);
    }
}
