package io.railhead.gateway.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a rule forbids is forbidden whichever way a request comes. */
class RulesIT {
    private static final int BUFFER = 4 << 20;
    private static final byte[] OBJECT = RandomBytes.random(5, 2_000_000);

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rules:
              - bucket: plain
                rdma: off
                freshness: immutable
              - bucket: uncached
                cache: off
                freshness: immutable
              - bucket: small
                max_object: 1999999
                freshness: immutable
              - bucket: fits
                max_object: 2000000
                freshness: immutable
            """).principals(TestGateway.UPLOADER);
    private final TestClient client = gateway.client();
    private TestPeer peer;

    @BeforeEach
    void start() {
        peer = gateway.closing(new TestPeer(client, "SK", BUFFER));
        for (String bucket : new String[]{"plain", "uncached", "small", "fits"}) {
            store.put("/" + bucket + "/object", OBJECT);
        }
    }

    private Answer ask(String bucket) {
        return peer.ask(Request.get(0, bucket, "object", peer.key(), 0, BUFFER));
    }

    private HttpResponse<byte[]> askByToken(String bucket) {
        return client.get("/" + bucket + "/object", peer.headers(0, BUFFER));
    }

    private void assertInBody(HttpResponse<byte[]> answer, String reason) {
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo(OBJECT);
        assertThat(answer.headers().firstValue("x-amz-rdma-reply")).isEmpty();
        assertThat(answer.headers().firstValue("x-railhead-rdma-declined")).contains(reason);
    }

    /** The store's own answer, through the reserve. */
    private void assertInMemory(HttpResponse<byte[]> answer) {
        assertThat(answer.headers().firstValue("x-amz-rdma-reply")).contains("200");
        assertThat(answer.headers().firstValue("x-cache")).contains("BYPASS");
        assertThat(answer.body()).isEmpty();
        assertThat(peer.bytes(0, OBJECT.length)).isEqualTo(OBJECT);
        peer.fill(0);
    }

    private double pages() {
        return gateway.metric("railhead_cached_pages");
    }

    @Test
    void withoutRdmaNoByteMovesOneSidedAndHttpIsServedFromMemory() {
        peer.fill(7);
        for (int round = 0; round < 2; round++) {
            assertThat(ask("plain").code()).isEqualTo("rule");
            assertInBody(askByToken("plain"), "rule");
        }
        assertThat(client.put("/plain/up", new byte[0], peer.headers(0, 1000)).statusCode())
                .isEqualTo(501);
        assertThat(client.put("/plain/up?partNumber=1&uploadId=u", new byte[0],
                peer.headers(0, 1000)).statusCode()).isEqualTo(501);
        assertThat(peer.ask(Request.put(0, "plain", "up", peer.key(), 0, 1000, Map.of()))
                .code()).isEqualTo("rule");
        assertThat(peer.isAll(7)).isTrue();
        assertThat(store.object("/plain/up")).isNull();
        assertThat(client.get("/plain/object").headers().firstValue("x-cache")).contains("HIT");
    }

    @Test
    void withoutACacheEachReadIsTheStores() {
        for (int round = 0; round < 2; round++) {
            HttpResponse<byte[]> answer = client.get("/uncached/object");
            assertThat(answer.body()).isEqualTo(OBJECT);
            assertThat(answer.headers().firstValue("x-cache")).contains("BYPASS");
            assertThat(client.head("/uncached/object").headers().firstValue("x-cache"))
                    .contains("BYPASS");
            assertInMemory(askByToken("uncached"));
            assertThat(ask("uncached").code()).isEqualTo("uncacheable");
        }
        assertThat(pages()).isZero();
        peer.set(0, OBJECT);
        assertThat(client.put("/uncached/up", new byte[0], peer.headers(0, OBJECT.length))
                .statusCode()).as("what is written goes to the store either way").isEqualTo(200);
        assertThat(store.object("/uncached/up")).isEqualTo(OBJECT);
    }

    @Test
    void anObjectOverTheLimitIsTheStoresAndOneOfItsSizeIsHeld() {
        for (int round = 0; round < 2; round++) {
            assertThat(client.get("/small/object").body()).isEqualTo(OBJECT);
            assertThat(client.get("/small/object", "Range", "bytes=5-8").statusCode())
                    .isEqualTo(206);
            assertThat(client.head("/small/object").statusCode()).isEqualTo(200);
            assertInMemory(askByToken("small"));
            assertThat(ask("small").code()).isEqualTo("uncacheable");
        }
        assertThat(pages()).isZero();
        assertThat(ask("fits").status()).isEqualTo(200);
        assertThat(peer.bytes(0, OBJECT.length)).isEqualTo(OBJECT);
        assertThat(askByToken("fits").statusCode()).isEqualTo(200);
        assertThat(pages()).isEqualTo(8);
    }
}
