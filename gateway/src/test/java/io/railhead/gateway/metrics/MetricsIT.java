package io.railhead.gateway.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is counted of who decided, what was spared, and what was wrong. */
class MetricsIT {
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rules:
              - freshness: immutable
                authorization: {remember: 10m}
            """);
    private final TestClient client = gateway.client();

    @BeforeEach
    void start() {
        store.put("/b/key", new byte[1000]);
    }

    private double decisions(String source, String result) {
        return gateway.metric("railhead_authorization_decisions_total{source=\"%s\",result=\"%s\",}"
                .formatted(source, result));
    }

    @Test
    void whoDecidedOnARequestIsCounted() {
        for (int i = 0; i < 3; i++) {
            assertThat(client.get("/b/key").statusCode()).isEqualTo(200);
        }
        assertThat(decisions("store", "allowed")).isEqualTo(1);
        assertThat(decisions("remembered", "allowed")).isGreaterThanOrEqualTo(2);
        assertThat(decisions("store", "denied")).isZero();
    }

    @Test
    void whatTheStoreDidNotHaveToSendIsCounted() {
        for (int i = 0; i < 3; i++) {
            assertThat(client.get("/b/key").body()).hasSize(1000);
        }
        assertThat(gateway.metric("railhead_store_bytes_avoided_total")).isEqualTo(2000);
    }

    @Test
    void bytesThatAreNotWhatWasDeclaredAreCounted() {
        assertThat(client.put("/b/new", new byte[10], "Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg==")
                .statusCode()).isEqualTo(400);
        assertThat(gateway.metric("railhead_integrity_failures_total{stage=\"upload\",}"))
                .isEqualTo(1);
    }

    @Test
    void whatIsHeldIsScrubbed() {
        assertThat(client.get("/b/key").body()).hasSize(1000);
        TestGateway.await(() -> gateway.metric("railhead_scrubbed_bytes_total") >= 1000);
        assertThat(gateway.metric("railhead_corrupt_pages_total{found_by=\"scrub\",}")).isZero();
        assertThat(gateway.metrics()).contains("railhead_corrupt_pages_total{found_by=\"read\",}");
    }

    @Test
    void theVersionAndTheOldestLeaseAreThere() {
        assertThat(gateway.metrics()).contains("railhead_build_info{version=",
                "railhead_oldest_lease_seconds 0.0");
    }
}
