package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A backend credential that the SDK's default provider chain gives. */
class DefaultChainIT {
    private static final byte[] OBJECT = "in the chain's name".getBytes();

    private FakeStore store;
    private TestGateway gateway;

    @BeforeEach
    void start() {
        System.setProperty("aws.accessKeyId", "CHAIN");
        System.setProperty("aws.secretAccessKey", "chain-secret");
        store = new FakeStore();
        gateway = new TestGateway("""
                cache:
                  memory: 64MiB
                backends:
                  store:
                    endpoints: [%s]
                """.formatted(store.endpoint()), """
                principals:
                  - name: trainer
                    keys: [{access_key: AK, secret_key: SK}]
                    backend_credential: {provider: default}
                """);
    }

    @AfterEach
    void stop() {
        System.clearProperty("aws.accessKeyId");
        System.clearProperty("aws.secretAccessKey");
        gateway.assertNoLease();
        gateway.close();
        store.close();
    }

    @Test
    void readsWritesAndHitsAreInItsName() {
        TestClient client = gateway.client("AK", "SK");
        assertThat(client.put("/b/key", OBJECT).statusCode()).isEqualTo(200);
        for (int round = 0; round < 2; round++) {
            assertThat(client.get("/b/key").body()).isEqualTo(OBJECT);
        }
        store.deny("CHAIN");
        assertThat(client.get("/b/key").statusCode()).isEqualTo(403);
    }
}
