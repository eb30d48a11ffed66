package io.railhead.gateway.frontdoor;

import static io.railhead.backend.testing.ScriptedStore.Script.beforeBody;
import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.ScriptedStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A store that refuses an upload in its middle: the client hears it, whether or not it sends on.
 */
class EarlyRefusalsIT {
    private static final int BYTES = 4 << 20;

    private final ScriptedStore store = new ScriptedStore(beforeBody((request, line) -> {
        if (!request.line().startsWith("PUT")) {
            status(200, "").play(request, line);
            return;
        }
        line.write("HTTP/1.1 100 Continue\r\n\r\n", new byte[0]);
        TestGateway.await(this::hasBegunToSend);
        status(507, "full").play(request, line);
        line.awaitClosed();
    }));
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store);
    private final TestClient client = gateway.client();

    private boolean hasBegunToSend() {
        return gateway
                .metric("railhead_backend_bytes_total{backend=\"store\",direction=\"out\",}") > 0;
    }

    /** A client that waits for 100 Continue may still send its body, so its connection ends. */
    @Test
    void aClientThatWasNotAskedForItsBodyIsToldThatTheConnectionEnds() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(refusedPut(5, "Expect: 100-continue\r\n"));
            RawConnection.Answer answer = raw.receive();
            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.headers()).containsEntry("connection", "close");
            assertThat(raw.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void aClientThatSendsMoreThanIsReadAwayIsToldThatTheConnectionEnds() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(refusedPut(99_999_999, ""));
            assertThat(raw.receive().headers()).containsEntry("connection", "close");
        }
    }

    /** A reset would take the answer from a client that reads it once all is sent. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "3000000|Expect: 100-continue", "3000000|Connection: close", "30000000|X-None: 1"})
    void aClientThatSendsItsBodyAllTheSameHearsTheRefusal(int length, String more) {
        for (int i = 0; i < 10; i++) {
            try (RawConnection raw = new RawConnection(gateway.endpoint())) {
                raw.send(refusedPut(length, more + "\r\n"));
                raw.send(new byte[length]);
                assertThat(raw.receive().status()).isEqualTo(400);
            }
        }
    }

    /** Refused by its head: nobody signs so. */
    private static String refusedPut(int length, String more) {
        return "PUT /b/key HTTP/1.1\r\nHost: h\r\nAuthorization: none\r\nContent-Length: " + length
                + "\r\n" + more + "\r\n";
    }

    @Test
    void anUploadWhoseBodyHasStalled() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(RawConnection.head(client.signed("PUT", "/b/key", new byte[BYTES]),
                    "Content-Length: " + BYTES) + "\r\n");
            raw.send(new byte[BYTES / 2]);
            RawConnection.Answer answer = raw.receive();
            assertThat(answer.status()).isEqualTo(507);
            assertThat(answer.body()).isEqualTo("full");
            raw.send(new byte[BYTES / 2]);
            raw.send(RawConnection.head(client.signed("GET", "/b/", new byte[0])) + "\r\n");
            assertThat(raw.receive().status()).isEqualTo(200);
        }
    }
}
