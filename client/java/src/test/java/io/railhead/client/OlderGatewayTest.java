package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.client.kv.Block;
import io.railhead.client.kv.KvNamespace;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests of blocks to gateways that know fewer operations. */
class OlderGatewayTest {
    private final FakeGateway gateway;

    OlderGatewayTest() throws IOException {
        gateway = new FakeGateway();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    @Test
    void itIsNotAskedWhatWouldEndTheSession() {
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1);
                RegisteredBuffer arena = client.register(200)) {
            KvNamespace blocks = client.kv("s3://bucket/");
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> blocks.exists(List.of("k")))
                        .isInstanceOf(NotAvailableException.class)
                        .hasMessage("not available: this gateway is too old for EXISTS: it"
                                + " serves operations up to 4, and EXISTS is 5");
            }
            Block block = Block.of("k", new Window(arena, 0, 100), new Window(arena, 100, 100));
            assertThatThrownBy(
                    () -> blocks.get(List.of(block)).getFirst().toCompletableFuture().join())
                    .isInstanceOf(CompletionException.class)
                    .hasRootCauseMessage("not available: this gateway takes at most 1 windows of"
                            + " one request: 2");
        }
        assertThat(gateway.channelRequests).hasValue(0);
        assertThat(gateway.sessionsOpened).hasValue(1);
    }

    @Test
    void itIsAskedWhatItKnows() {
        gateway.newerFields = ", \"max_operation\": 8, \"max_windows\": 2";
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1)) {
            KvNamespace blocks = client.kv("s3://bucket/");
            assertThatThrownBy(() -> blocks.exists(List.of("k")))
                    .hasMessageContaining("the gateway does not serve this: unsupported");
            assertThatThrownBy(() -> blocks.touch(List.of("k")))
                    .hasMessageContaining("too old for TOUCH");
        }
        assertThat(gateway.channelRequests).hasValue(1);
    }
}
