package io.railhead.gateway.frontdoor;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.backend.testing.ScriptedStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestGateway;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** HTTP/1.0 has no chunks: an answer whose length the store does not say ends as its connection. */
class OlderHttpIT {
    private static final byte[] DOCUMENT = RandomBytes.random(5, 100_000);
    private static final byte[] END = "\r\n0\r\n\r\n".getBytes(US_ASCII);

    /** A client that would rather keep its connection. */
    private static void ask(ScriptedStore.Script answer,
            Consumer<RawConnection> behindTheHead) {
        try (ScriptedStore store = new ScriptedStore(answer);
                TestGateway gateway = TestGateway.over(store).start();
                RawConnection raw = new RawConnection(gateway.endpoint())) {
            String head = RawConnection.head(gateway.client()
                    .signed("GET", "/b/key?acl", new byte[0]), "Connection: keep-alive");
            raw.send(head.replace("HTTP/1.1", "HTTP/1.0") + "\r\n");
            assertThat(raw.receiveHead().headers()).doesNotContainKeys("content-length",
                    "transfer-encoding");
            behindTheHead.accept(raw);
        }
    }

    private static void write(ScriptedStore.Line line) throws IOException {
        line.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                + Integer.toHexString(DOCUMENT.length) + "\r\n", DOCUMENT);
    }

    @Test
    void aWholeAnswerEndsInOrder() {
        ask((_, line) -> {
            write(line);
            line.write("", END);
        }, raw -> assertThat(raw.read(Integer.MAX_VALUE)).isEqualTo(DOCUMENT));
    }

    @Test
    void oneThatBreaksOffDoesNot() {
        CompletableFuture<Void> begun = new CompletableFuture<>();
        ask((_, line) -> {
            write(line);
            begun.join(); // earlier it would be answered by an error
            line.close();
        }, raw -> {
            begun.complete(null);
            assertThatThrownBy(() -> raw.read(Integer.MAX_VALUE))
                    .hasRootCauseMessage("Connection reset");
        });
    }
}
