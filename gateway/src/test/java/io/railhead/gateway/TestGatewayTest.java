package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TestGatewayTest {
    private final List<String> closed = new ArrayList<>();
    private final FakeStore store = new FakeStore();
    private final TestGateway gateway = TestGateway.over(store)
            .owning(() -> closed.add("store, gateway " + state()));

    private String state() {
        try {
            return "at " + gateway.endpoint().getHost();
        } catch (IllegalStateException e) {
            return "down";
        }
    }

    @Test
    void clientsGatewayAndStoresAreClosedInThisOrderEvenIfOneFails() {
        gateway.start();
        gateway.closing(() -> closed.add("first client, gateway " + state()));
        gateway.closing(() -> {
            closed.add("second client");
            throw new IllegalStateException("as it was told");
        });
        assertThatThrownBy(gateway::close).hasMessage("not closed");
        assertThat(closed).containsExactly("second client", "first client, gateway at 127.0.0.1",
                "store, gateway down");
    }

    @Test
    void aStartThatFailsLeavesTheStoreToBeClosed() {
        gateway.config("gateway: {listen: nowhere}");
        assertThatThrownBy(gateway::start).hasMessageContaining("gateway.listen");
        gateway.close();
        assertThat(closed).containsExactly("store, gateway down");
    }

    @Test
    void aBackendWithoutEndpointsGetsTheStores() {
        try (gateway) {
            gateway.config("""
                    backends: {own: {}, other: {endpoints: ["http://127.0.0.1:1"]}}
                    rules: [{backend: own}]
                    """).start();
            store.put("/b/key", new byte[10]);
            assertThat(gateway.client().get("/b/key").statusCode()).isEqualTo(200);
        }
    }
}
