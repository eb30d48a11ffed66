package io.railhead.gateway.freshness;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that take nothing that the store was not asked about for them. */
class AskingAnewIT {
    private static final int BUFFER = 1 << 20;
    private static final byte[] OLD = "the old bytes".getBytes();
    private static final byte[] NEW = "the newer bytes".getBytes();
    private static final String[] ANEW = {"Cache-Control", "no-cache"};

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rules:
              - bucket: held
                freshness: immutable
              - bucket: bounded
                freshness: {bounded: 1h}
                stale_if_error: true
            """);
    private final TestClient client = gateway.client();

    private void replaceBehind(String path) {
        store.put(path, OLD);
        assertThat(client.get(path).body()).isEqualTo(OLD);
        store.put(path, NEW);
    }

    @ParameterizedTest
    @ValueSource(strings = {"no-cache", "max-age=0", "No-Cache", "max-stale, max-age=0"})
    void getTheStoresVersionAndSoDoThoseBehindThem(String directives) {
        replaceBehind("/held/key");
        assertThat(client.get("/held/key").body()).isEqualTo(OLD);
        HttpResponse<byte[]> anew = client.get("/held/key", "Cache-Control", directives);
        assertThat(anew.body()).isEqualTo(NEW);
        assertThat(client.get("/held/key").body()).isEqualTo(NEW);
    }

    @ParameterizedTest
    @ValueSource(strings = {"no-store", "max-age=10", "only-if-cached", "x-no-cache"})
    void otherDirectivesAreNotHeard(String directives) {
        replaceBehind("/held/key");
        int asked = store.requests().size();
        HttpResponse<byte[]> answer = client.get("/held/key", "Cache-Control", directives);
        assertThat(answer.body()).isEqualTo(OLD);
        assertThat(answer.headers().firstValue("x-cache")).contains("HIT");
        assertThat(store.requestsAfter(asked)).isEmpty();
    }

    /** Objects that have not changed are still served out of memory. */
    @Test
    void takeNoByteOfTheStoreAgain() {
        store.put("/held/key", OLD);
        client.get("/held/key");
        int asked = store.requests().size();
        assertThat(client.get("/held/key", ANEW).body()).isEqualTo(OLD);
        assertThat(store.requestsAfter(asked)).containsExactly("HEAD /held/key -");
    }

    @Test
    void describeTheStoresVersion() {
        replaceBehind("/held/key");
        client.head("/held/key");
        assertThat(client.head("/held/key", ANEW).headers().firstValue("etag"))
                .contains(FakeStore.etag(NEW));
    }

    @Test
    void intoTheClientsMemory() {
        replaceBehind("/held/key");
        try (TestPeer peer = new TestPeer(client, "SK", BUFFER)) {
            HttpResponse<byte[]> anew = client.get("/held/key", peer.headers(0, BUFFER, ANEW));
            assertThat(anew.headers().firstValue("etag")).contains(FakeStore.etag(NEW));
            assertThat(peer.bytes(0, NEW.length)).isEqualTo(NEW);
        }
    }

    @Test
    void findWhatWasAbsent() {
        for (int i = 0; i < 2; i++) {
            assertThat(client.get("/bounded/key").statusCode()).isEqualTo(404);
        }
        store.put("/bounded/key", NEW);
        assertThat(client.get("/bounded/key").statusCode()).isEqualTo(404);
        assertThat(client.get("/bounded/key", ANEW).body()).isEqualTo(NEW);
    }

    @Test
    void areRefusedToWhomTheStoreRefuses() {
        replaceBehind("/held/key");
        store.deny("AK");
        assertThat(client.get("/held/key").body()).isEqualTo(OLD);
        assertThat(client.get("/held/key", ANEW).statusCode()).isEqualTo(403);
    }

    @Test
    void getNothingStaleWhileTheStoreIsAway() {
        replaceBehind("/bounded/key");
        store.close();
        assertThat(client.get("/bounded/key").body()).isEqualTo(OLD);
        assertThat(client.get("/bounded/key", ANEW).statusCode()).isEqualTo(503);
        assertThat(client.head("/bounded/key", ANEW).statusCode()).isEqualTo(503);
    }
}
