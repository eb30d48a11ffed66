package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * HTTP/1.0 has no chunks: an answer whose length the store does not say ends with its connection.
 */
class OlderHttpIT {
    private static final int HALF = 100_000;

    private final byte[] document = new byte[2 * HALF];
    private FakeStore store;
    private TestGateway gateway;

    @BeforeEach
    void start() {
        new Random(5).nextBytes(document);
        store = new FakeStore();
        store.put("/b/key", new byte[10]);
        gateway = TestGateway.over(store.endpoint());
    }

    @AfterEach
    void stop() {
        gateway.close();
        store.close();
    }

    private void answerWith(int bytes) {
        store.fault((exchange, _) -> {
            try {
                exchange.sendResponseHeaders(200, 0);
                exchange.getResponseBody().write(document, 0, bytes);
                exchange.getResponseBody().flush();
                if (bytes == document.length) {
                    exchange.getResponseBody().close();
                }
            } catch (java.io.IOException e) {
                throw new UncheckedIOException(e);
            }
            return true;
        });
    }

    private RawConnection ask() {
        String head = RawConnection.head(gateway.client("AK", "SK")
                .signed("GET", "/b/key?acl", new byte[0]), "Connection: keep-alive");
        RawConnection raw = new RawConnection(gateway.endpoint());
        raw.send(head.replace("HTTP/1.1", "HTTP/1.0") + "\r\n");
        assertThat(raw.receiveHead().headers()).doesNotContainKeys("content-length",
                "transfer-encoding");
        return raw;
    }

    @Test
    void aWholeAnswerEndsInOrder() {
        answerWith(document.length);
        try (RawConnection raw = ask()) {
            assertThat(raw.read(Integer.MAX_VALUE)).isEqualTo(document);
        }
    }

    @Test
    void oneThatBreaksOffDoesNot() {
        answerWith(HALF);
        try (RawConnection raw = ask()) {
            assertThatThrownBy(() -> raw.read(Integer.MAX_VALUE))
                    .hasRootCauseMessage("Connection reset");
        }
    }
}
