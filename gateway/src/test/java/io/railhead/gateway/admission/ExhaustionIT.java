package io.railhead.gateway.admission;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.frontdoor.RawConnection;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A gateway whose memory is too small for what is asked of it: slower, never wrong. */
class ExhaustionIT {
    private static final int READERS = 6;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            cache:
              memory: 32MiB
            rules:
              - bucket: held
                freshness: immutable
            """);
    private final TestClient client = gateway.client();

    @Test
    void anObjectLargerThanTheCacheIsReadWhole() {
        byte[] object = random(1, 80 << 20);
        store.put("/held/large", object);
        for (int round = 0; round < 2; round++) {
            assertThat(Arrays.equals(client.get("/held/large").body(), object)).isTrue();
        }
    }

    @Test
    void readersWhoStopReadingHoldUpNobodyElse() {
        List<RawConnection> readers = new ArrayList<>();
        try {
            for (int i = 0; i < READERS; i++) {
                byte[] object = random(i, 40 << 20);
                store.put("/held/slow-" + i, object);
                readers.add(stuckReader("/held/slow-" + i, object));
            }
            TestGateway.await(() -> gateway.memory().freeBytes() < 1 << 20);
            readOverHttp();
            readOneSided();
        } finally {
            readers.forEach(RawConnection::close);
        }
        gateway.assertNoLease();
        assertThat(gateway.metric("railhead_leases")).isZero();
    }

    /** Reads the first bytes and no more. */
    private RawConnection stuckReader(String path, byte[] object) {
        RawConnection reader = new RawConnection(gateway.endpoint());
        reader.send(RawConnection.head(client.signed("GET", path, new byte[0])) + "\r\n");
        assertThat(reader.receiveHead().status()).isEqualTo(200);
        assertThat(reader.read(1000)).isEqualTo(Arrays.copyOf(object, 1000));
        return reader;
    }

    private void readOverHttp() {
        for (int i = 0; i < 4; i++) {
            byte[] object = random(100 + i, 5_000_000);
            store.put("/held/other", object);
            store.put("/b/other-" + i, object);
            HttpResponse<byte[]> answer = client.get("/b/other-" + i);
            assertThat(answer.body()).isEqualTo(object);
            assertThat(answer.headers().firstValue("x-cache")).contains("MISS");
            answer = client.get("/b/other-" + i);
            assertThat(answer.body()).isEqualTo(object);
        }
        assertThat(gateway.metric("railhead_memory_shortages_total")).isPositive();
    }

    private void readOneSided() {
        byte[] object = random(200, 6 << 20);
        store.put("/held/one-sided", object);
        try (TestPeer peer = new TestPeer(client, "SK", 8 << 20)) {
            for (int i = 0; i < 4; i++) {
                peer.fill(0);
                HttpResponse<byte[]> answer = client.get("/held/one-sided",
                        peer.headers(0, 8 << 20));
                assertThat(answer.statusCode()).isIn(200, 503);
                if (answer.headers().firstValue("x-amz-rdma-reply").isPresent()) {
                    assertThat(peer.bytes(0, object.length)).isEqualTo(object);
                } else {
                    assertThat(answer.headers().firstValue("x-railhead-rdma-declined"))
                            .contains("memory");
                    assertThat(answer.body()).isEqualTo(object);
                }
            }
        }
    }
}
