package io.railhead.gateway.frontdoor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.ScriptedStore;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestGateway;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whose fault it is that nothing moves on a connection: only the client's ends it. */
class IdleConnectionsIT {
    private static final Duration LONGER = Duration.ofMillis(2500);
    private static final String HEAD = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    private static final String DONE = "7\r\n<Done/>\r\n0\r\n\r\n";

    private static TestGateway gateway(URI store) {
        return TestGateway.over(store).config("gateway: {idle_timeout: 1s}").start();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClientThatWaitsForTheStoreIsKept(boolean inTheAnswer) {
        String begun = inTheAnswer ? "1\r\n \r\n" : "";
        ScriptedStore.Script slow = (request, line) -> {
            if (inTheAnswer) {
                line.write(HEAD + begun, new byte[0]);
            }
            LockSupport.parkNanos(LONGER.toNanos());
            line.write((inTheAnswer ? "" : HEAD) + DONE, new byte[0]);
        };
        try (ScriptedStore store = new ScriptedStore(slow);
                TestGateway gateway = gateway(store.endpoint());
                RawConnection raw = new RawConnection(gateway.endpoint())) {
            HttpRequest copy = gateway.client()
                    .signed("PUT", "/b/key", new byte[0], "x-amz-copy-source", "/b/source");
            raw.send(RawConnection.head(copy, "Content-Length: 0") + "\r\n");
            assertThat(raw.receiveHead().status()).isEqualTo(200);
            String body = begun + DONE;
            assertThat(new String(raw.read(body.length()), UTF_8)).isEqualTo(body);
        }
    }

    /** It was told to go on when its body was there already: that is no answer. */
    @Test
    void soIsOneThatAskedWhetherToGoOnAndDidNotWait() {
        ScriptedStore.Script slow = (request, line) -> {
            LockSupport.parkNanos(LONGER.toNanos());
            line.write(HEAD + DONE, new byte[0]);
        };
        byte[] body = "<CompleteMultipartUpload/>".getBytes(UTF_8);
        try (ScriptedStore store = new ScriptedStore(slow);
                TestGateway gateway = gateway(store.endpoint());
                RawConnection raw = new RawConnection(gateway.endpoint())) {
            HttpRequest complete = gateway.client()
                    .signed("POST", "/b/key?uploadId=u", body);
            raw.send(RawConnection.head(complete, "Content-Length: " + body.length,
                    "Expect: 100-continue") + "\r\n" + new String(body, UTF_8));
            assertThat(raw.receiveHead().status()).isEqualTo(100);
            assertThat(raw.receiveHead().status()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"",
            "PUT /b/key HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf"})
    void aClientThatSaysNothingMoreIsClosed(String said) {
        try (FakeStore store = new FakeStore();
                TestGateway gateway = gateway(store.endpoint());
                RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(said);
            assertThat(raw.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void aClientThatDoesNotTakeItsAnswerIsClosedAndItsLeaseReturned() {
        try (FakeStore store = new FakeStore();
                TestGateway gateway = gateway(store.endpoint());
                RawConnection raw = new RawConnection(gateway.endpoint())) {
            store.put("/b/key", new byte[40_000_000]);
            HttpRequest get = gateway.client().signed("GET", "/b/key", new byte[0]);
            raw.send(RawConnection.head(get) + "\r\n");
            TestGateway.await(() -> gateway.metric("railhead_requests_in_flight") == 1);
            TestGateway.await(() -> gateway.metric("railhead_requests_in_flight") == 0);
            gateway.assertNoLease();
        }
    }
}
