package io.railhead.gateway.freshness;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How long exactly an answer is given without asking: a clock that only the test moves. */
class BoundedFreshnessIT {
    private static final Duration BOUND = Duration.ofSeconds(10);
    private static final Duration REMEMBER = Duration.ofSeconds(60);

    private final AtomicLong now = new AtomicLong(1_000_000_000_000L);
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rules:
              - bucket: held
                freshness: {bounded: 10s}
                authorization: {remember: 60s}
              - bucket: fixed
                freshness: immutable
                authorization: {remember: 60s}
            """).clock(now::get);
    private final TestClient client = gateway.client();

    private static byte[] random(int seed) {
        return RandomBytes.random(seed, 10_000);
    }

    /** A HEAD is answered from a GET's metadata for as long as the rule lets a GET be. */
    @ParameterizedTest
    @ValueSource(strings = {"held", "fixed"})
    void aHeadOfWhatAGetBroughtInAsksNobodyAndNeedsNoStore(String bucket) {
        byte[] object = random(7);
        store.put("/" + bucket + "/key", object);
        get("/" + bucket + "/key", object);
        store.close();
        HttpResponse<byte[]> head = client.head("/" + bucket + "/key");
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.headers().firstValue("etag")).contains(FakeStore.etag(object));
        assertThat(head.headers().firstValueAsLong("content-length")).hasValue(object.length);
        assertThat(store.count("HEAD /" + bucket)).isZero();
        // Checksums are the store's to tell: without it they are left out.
        assertThat(client.send("HEAD", "/" + bucket + "/key", new byte[0], "x-amz-checksum-mode",
                "ENABLED").statusCode()).isEqualTo(200);
    }

    private void get(String path, byte[] expected) {
        HttpResponse<byte[]> answer = client.get(path);
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo(expected);
    }

    @Test
    void insideTheBoundNobodyIsAskedAndAtTheBoundOneHeadIs() {
        byte[] object = random(1);
        store.put("/held/key", object);
        get("/held/key", object);
        TestGateway.await(() -> store.count("GET / ") == 1); // the probe at the start
        int asked = store.requests().size();
        now.addAndGet(BOUND.toNanos() - 1);
        get("/held/key", object);
        assertThat(store.requests()).hasSize(asked);
        now.incrementAndGet();
        get("/held/key", object);
        assertThat(store.requests()).hasSize(asked + 1);
        assertThat(store.requests().getLast()).startsWith("HEAD /held/key");
        now.addAndGet(BOUND.toNanos() - 1);
        get("/held/key", object);
        assertThat(client.head("/held/key").statusCode()).isEqualTo(200);
        assertThat(store.requests()).hasSize(asked + 1);
    }

    @Test
    void aWriteBehindIsUnseenInsideTheBoundAndSeenAtIt() {
        byte[] before = random(2);
        byte[] after = random(3);
        store.put("/held/key", before);
        get("/held/key", before);
        store.put("/held/key", after);
        now.addAndGet(BOUND.toNanos() - 1);
        get("/held/key", before);
        now.incrementAndGet();
        get("/held/key", after);
    }

    @Test
    void whatWasAllowedIsRememberedSoLongAndNoLonger() {
        byte[] object = random(4);
        store.put("/fixed/key", object);
        get("/fixed/key", object);
        store.deny("AK");
        now.addAndGet(REMEMBER.toNanos() - 1);
        get("/fixed/key", object);
        now.incrementAndGet();
        assertThat(client.get("/fixed/key").statusCode()).isEqualTo(403);
        assertThat(client.head("/fixed/key").statusCode()).isEqualTo(403);
    }
}
