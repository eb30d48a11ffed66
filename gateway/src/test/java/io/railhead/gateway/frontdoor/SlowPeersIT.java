package io.railhead.gateway.frontdoor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.ScriptedStore;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that move now and then, so that they are never idle, and those who only connect. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SlowPeersIT {
    private static final long BETWEEN_NANOS = Duration.ofMillis(100).toNanos();
    /** So much that the kernel opens its window again more often than an idle connection ends. */
    private static final int SIP = 400_000;
    private static final byte[] OBJECT = new byte[40_000_000];

    private static TestGateway gateway(URI store, String settings) {
        return TestGateway.over(store).config("gateway: {" + settings + "}").start();
    }

    private static double closed(TestGateway gateway, String reason) {
        return gateway.metric("railhead_closed_connections_total{reason=\"%s\",}"
                .formatted(reason));
    }

    @Test
    void aReaderWhoSipsIsClosedAndItsPagesReturned() {
        try (FakeStore store = new FakeStore();
                TestGateway gateway = gateway(store.endpoint(),
                        "idle_timeout: 2s, min_rate: 1GiB");
                RawConnection raw = new RawConnection(gateway.endpoint())) {
            store.put("/b/key", OBJECT);
            HttpRequest get = gateway.client().signed("GET", "/b/key", new byte[0]);
            raw.send(RawConnection.head(get) + "\r\n");
            while (closed(gateway, "slow_reader") == 0) {
                assertThat(raw.read(SIP).length).isEqualTo(SIP);
                LockSupport.parkNanos(BETWEEN_NANOS);
            }
            gateway.assertNoLease();
            TestGateway.await(() -> gateway
                    .metric("railhead_admission_in_use{what=\"requests\",}") == 0);
        }
    }

    @Test
    void aSenderWhoDripsIsClosed() {
        try (FakeStore store = new FakeStore();
                TestGateway gateway = gateway(store.endpoint(), "idle_timeout: 1s");
                RawConnection raw = new RawConnection(gateway.endpoint())) {
            HttpRequest put = gateway.client()
                    .signed("PUT", "/b/key", OBJECT, "x-amz-content-sha256", "UNSIGNED-PAYLOAD");
            raw.send(RawConnection.head(put, "Content-Length: " + OBJECT.length) + "\r\n");
            while (closed(gateway, "slow_sender") == 0) {
                raw.sendWhilePossible(new byte[1]);
                LockSupport.parkNanos(BETWEEN_NANOS);
            }
            assertThat(raw.isClosedByPeer()).isTrue();
            assertThat(store.object("/b/key")).isNull();
        }
    }

    /** The store reads nothing for longer than a client may be slow. */
    @Test
    void aSenderWhomTheStoreKeepsWaitingIsKept() {
        byte[] body = new byte[20_000_000];
        ScriptedStore.Script slow = (request, line) -> {
            LockSupport.parkNanos(Duration.ofMillis(2500).toNanos());
            line.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", new byte[0]);
        };
        try (ScriptedStore store = new ScriptedStore(slow);
                TestGateway gateway = gateway(store.endpoint(),
                        "idle_timeout: 1s, min_rate: 1MiB")) {
            assertThat(gateway.client().put("/b/key", body).statusCode())
                    .isEqualTo(200);
            assertThat(closed(gateway, "slow_sender")).isZero();
        }
    }

    @Test
    void connectionsOnWhichNothingIsAskedMakeRoom() {
        List<RawConnection> silent = new ArrayList<>();
        try (FakeStore store = new FakeStore();
                TestGateway gateway = gateway(store.endpoint(),
                        "admission: {connections: 8}")) {
            store.put("/b/key", new byte[1000]);
            TestClient client = gateway.client();
            for (int i = 0; i < 40; i++) {
                silent.add(new RawConnection(gateway.endpoint()).send("GET /b/key HTTP/1.1\r\n"));
                assertThat(fresh(gateway, client)).isEqualTo(200);
            }
            assertThat(closed(gateway, "room")).isPositive();
            assertThat(gateway.metric("railhead_admission_in_use{what=\"connections\",}"))
                    .isLessThanOrEqualTo(8);
        } finally {
            silent.forEach(RawConnection::close);
        }
    }

    /** Their answers wait in the gateway, whole. */
    @Test
    void soDoThoseOnWhichAnAnswerIsNotRead() {
        List<RawConnection> unread = new ArrayList<>();
        try (FakeStore store = new FakeStore();
                TestGateway gateway = gateway(store.endpoint(),
                        "admission: {connections: 8}")) {
            store.put("/b/large", new byte[6 << 20]);
            store.put("/b/key", new byte[1000]);
            TestClient client = gateway.client();
            String head = RawConnection.head(client.signed("GET", "/b/large", new byte[0]));
            for (int i = 0; i < 7; i++) {
                RawConnection reader = new RawConnection(gateway.endpoint());
                unread.add(reader.send(head + "\r\n"));
                assertThat(reader.receiveHead().status()).isEqualTo(200);
            }
            TestGateway.await(() -> gateway.metric("railhead_requests_in_flight") == 0);
            for (int i = 0; i < 20; i++) {
                assertThat(fresh(gateway, client)).isEqualTo(200);
                unread.add(new RawConnection(gateway.endpoint()).send("GET /b/key HTTP/1.1\r\n"));
            }
            TestGateway.await(() -> gateway
                    .metric("railhead_admission_in_use{what=\"connections\",}") <= 8);
        } finally {
            unread.forEach(RawConnection::close);
        }
    }

    /** By a connection of its own. */
    private static int fresh(TestGateway gateway, TestClient client) {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(RawConnection.head(client.signed("GET", "/b/key", new byte[0])) + "\r\n");
            RawConnection.Answer answer = raw.receiveHead();
            assertThat(new String(raw.read(1000), UTF_8)).hasSize(1000);
            return answer.status();
        }
    }

    @Test
    void whereAllConnectionsAreAtWorkOneMoreIsClosed() {
        try (FakeStore store = new FakeStore();
                TestGateway gateway = gateway(store.endpoint(),
                        "admission: {connections: 3}");
                Readers readers = new Readers(new ArrayList<>())) {
            store.put("/b/key", OBJECT);
            TestClient client = gateway.client();
            for (int i = 0; i < 3; i++) {
                RawConnection reader = new RawConnection(gateway.endpoint());
                readers.all().add(reader);
                reader.send(
                        RawConnection.head(client.signed("GET", "/b/key", new byte[0])) + "\r\n");
                assertThat(reader.receiveHead().status()).isEqualTo(200);
            }
            try (RawConnection oneMore = new RawConnection(gateway.endpoint())) {
                assertThat(oneMore.isClosedByPeer()).isTrue();
            }
            assertThat(closed(gateway, "connections")).isEqualTo(1);
            assertThat(readers.all().getFirst().read(OBJECT.length).length)
                    .isEqualTo(OBJECT.length);
        }
    }

    /** Gone before the gateway, which would wait for them. */
    private record Readers(List<RawConnection> all) implements AutoCloseable {
        @Override
        public void close() {
            all.forEach(RawConnection::close);
        }
    }
}
