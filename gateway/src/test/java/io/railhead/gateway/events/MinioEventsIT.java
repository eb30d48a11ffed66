package io.railhead.gateway.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.MinioProcess;
import io.railhead.gateway.Forwarder;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;

/** A real store that tells of its objects by itself. */
@EnabledIfEnvironmentVariable(named = "MINIO_BIN", matches = ".+")
class MinioEventsIT {
    private static final String TOKEN = "a-token-of-the-store";
    private static final String NOTIFY = """
            <NotificationConfiguration><QueueConfiguration><Id>railhead</Id>
            <Queue>arn:minio:sqs::RACK:webhook</Queue>
            <Event>s3:ObjectCreated:*</Event><Event>s3:ObjectRemoved:*</Event>
            </QueueConfiguration></NotificationConfiguration>""";

    @Test
    void whatChangedOrWentPastTheGatewayIsForgotten(@TempDir Path folder) throws IOException {
        Path token = Files.writeString(folder.resolve("token"), TOKEN);
        try (Forwarder webhook = new Forwarder();
                MinioProcess store = new MinioProcess(Path.of(System.getenv("MINIO_BIN")),
                        Map.of("MINIO_NOTIFY_WEBHOOK_ENABLE_RACK", "on",
                                "MINIO_NOTIFY_WEBHOOK_ENDPOINT_RACK",
                                webhook.endpoint() + "/.railhead/events",
                                "MINIO_NOTIFY_WEBHOOK_AUTH_TOKEN_RACK", TOKEN));
                TestGateway gateway = gateway(store, token)) {
            webhook.passOnTo(gateway.endpoint());
            String access = store.credential().accessKey();
            String secret = store.credential().secretKey();
            TestClient client = gateway.client(access, secret);
            TestClient past = new TestClient(store.endpoint(), access, secret);
            assertThat(past.put("/held", new byte[0]).statusCode()).isEqualTo(200);
            assertThat(past.put("/held?notification", NOTIFY.getBytes(UTF_8)).statusCode())
                    .isEqualTo(200);
            String path = "/held/a%20dir/100%25%2B%C3%BC";
            past.put(path, "old".getBytes(UTF_8));
            TestGateway.await(() -> invalidated(gateway) == 1);
            assertThat(client.get(path).body()).asString(UTF_8).isEqualTo("old");

            past.put(path, "new".getBytes(UTF_8));
            TestGateway.await(() -> invalidated(gateway) == 2);
            assertThat(client.get(path).body()).asString(UTF_8).isEqualTo("new");

            past.delete(path);
            TestGateway.await(() -> invalidated(gateway) == 3);
            assertThat(client.get(path).statusCode()).isEqualTo(404);
            gateway.assertNoLease();
        }
    }

    private static double invalidated(TestGateway gateway) {
        return gateway.metric("railhead_events_total{outcome=\"invalidated\",}");
    }

    private static TestGateway gateway(MinioProcess store, Path token) {
        return TestGateway.over(store.endpoint())
                .config("""
                        gateway:
                          events: {enabled: true, token_file: %s}
                        rules:
                          - freshness: {bounded: 1h}
                        """.formatted(token))
                .principals("""
                        principals:
                          - name: trainer
                            keys: [{access_key: %s, secret_key: %s}]
                        """.formatted(store.credential().accessKey(),
                        store.credential().secretKey()))
                .start();
    }
}
