package io.railhead.gateway.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.GatewayProcess;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store whose name cannot be resolved, for a while. */
class StoreNameIT {
    private static final byte[] OBJECT = new byte[200_000];

    @TempDir
    private Path folder;

    private FakeStore store;

    @BeforeEach
    void start() {
        store = new FakeStore();
        store.put("/held/one", OBJECT);
        store.put("/held/two", OBJECT);
    }

    @AfterEach
    void stop() {
        store.close();
    }

    /** The only names that the gateway's process knows. */
    private Path names(String text) throws IOException {
        Path next = Files.writeString(folder.resolve("names.next"), text);
        return Files.move(next, folder.resolve("names"), StandardCopyOption.ATOMIC_MOVE,
                StandardCopyOption.REPLACE_EXISTING);
    }

    private GatewayProcess start(String text) throws IOException {
        Files.writeString(folder.resolve("credentials.yaml"), TestGateway.TRAINER);
        Path config = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway:
                  listen: 127.0.0.1:0
                  health: 127.0.0.1:0
                  credentials: credentials.yaml
                admin: {enabled: false}
                rdma: {loopback: {socket: loopback.sock}}
                cache: {memory: 64MiB}
                backends: {store: {endpoints: ["http://store.test:%d"]}}
                rules:
                  - {bucket: held, freshness: immutable}
                """.formatted(store.endpoint().getPort()));
        return GatewayProcess.start(config, Map.of(),
                "-Djdk.net.hosts.file=" + names(text), "-Dsun.net.inetaddr.ttl=0",
                "-Dsun.net.inetaddr.negative.ttl=0");
    }

    @Test
    void itServesOnceTheNameIsThere() throws IOException {
        try (GatewayProcess gateway = start("")) {
            TestClient client = new TestClient(gateway.endpoint(), "AK", "SK");
            var refused = client.get("/held/one");
            assertThat(refused.statusCode()).isEqualTo(503);
            assertThat(refused.headers().firstValue("retry-after")).isPresent();

            names("127.0.0.1 store.test\n");
            TestGateway.await(() -> client.get("/held/one").statusCode() == 200);
            TestGateway.await(gateway::isReady);
        }
    }

    /** What is held is served meanwhile; a store that hangs up makes its name be looked up. */
    @Test
    void aNameThatGoesAwayCostsOnlyWhatIsNotHeld() throws IOException {
        try (GatewayProcess gateway = start("127.0.0.1 store.test\n")) {
            TestClient client = new TestClient(gateway.endpoint(), "AK", "SK");
            store.header("Connection", "close");
            assertThat(client.get("/held/one").statusCode()).isEqualTo(200);

            names("");
            AtomicInteger asked = new AtomicInteger();
            // Others each time: one that comes by a connection still open would be held from then
            // on.
            TestGateway.await(() -> {
                String cold = "/held/cold" + asked.incrementAndGet();
                store.put(cold, OBJECT);
                return client.get(cold).statusCode() == 503;
            });
            for (int i = 0; i < 20; i++) {
                assertThat(client.get("/held/one").body()).isEqualTo(OBJECT);
            }

            names("127.0.0.1 store.test\n");
            TestGateway.await(() -> client.get("/held/two").statusCode() == 200);
            assertThat(client.get("/held/two").body()).isEqualTo(OBJECT);
        }
    }
}
