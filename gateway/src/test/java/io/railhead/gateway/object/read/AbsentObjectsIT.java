package io.railhead.gateway.object.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** That there is no such key is remembered for seconds, and never against what a rule promises. */
class AbsentObjectsIT {
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rules:
              - {bucket: strong}
              - {bucket: immutable, freshness: immutable}
              - {freshness: {bounded: 1h}}
            """).principals("""
            principals:
              - name: trainer
                keys: [{access_key: AK, secret_key: SK}]
              - name: other
                keys: [{access_key: AK2, secret_key: SK2}]
            """);
    private final TestClient client = gateway.client();

    private void assertAbsent(HttpResponse<byte[]> answer) {
        assertThat(answer.statusCode()).isEqualTo(404);
        assertThat(new String(answer.body())).contains("<Code>NoSuchKey</Code>");
    }

    @ParameterizedTest
    @ValueSource(strings = {"bounded", "immutable"})
    void theStoreIsAskedOnce(String bucket) {
        for (int i = 0; i < 3; i++) {
            assertAbsent(client.get("/" + bucket + "/none"));
        }
        assertThat(store.count("GET /" + bucket + "/none")).isEqualTo(1);
        assertThat(client.head("/" + bucket + "/none").statusCode()).isEqualTo(404);
        assertThat(store.count("HEAD /" + bucket + "/none")).isZero();
        assertThat(gateway.metric("railhead_cache_requests_total{result=\"absent\",}"))
                .isEqualTo(3);
    }

    /** As s3proxy says with each 404; a real delete marker's headers are not ours to make. */
    @ParameterizedTest
    @CsvSource({"false, 1", "False, 1", "true, 3"})
    void aDeleteMarkerIsOneOnlyWhereTheStoreSaysTrue(String said, int asked) {
        store.absentHeader("x-amz-delete-marker", said);
        for (int i = 0; i < 3; i++) {
            assertThat(client.head("/b/none").statusCode()).isEqualTo(404);
        }
        for (int i = 0; i < 3; i++) {
            assertAbsent(client.get("/b/none"));
        }
        assertThat(store.count("HEAD /b/none")).isEqualTo(asked);
        assertThat(store.count("GET /b/none")).isEqualTo(asked);
    }

    @Test
    void underStrongItIsAskedEachTime() {
        for (int i = 0; i < 3; i++) {
            assertAbsent(client.get("/strong/none"));
            assertThat(client.head("/strong/none").statusCode()).isEqualTo(404);
        }
        assertThat(store.count("GET /strong/none")).isEqualTo(3);
        assertThat(store.count("HEAD /strong/none")).isEqualTo(3);
    }

    @Test
    void whatOneWasToldIsNothingToAnother() {
        assertAbsent(client.get("/b/none"));
        assertAbsent(gateway.client("AK2", "SK2").get("/b/none"));
        assertThat(store.count("GET /b/none")).isEqualTo(2);
    }

    @Test
    void aWriteThroughTheGatewayIsSeenAtOnce() {
        assertAbsent(client.get("/b/key"));
        assertThat(client.head("/b/key").statusCode()).isEqualTo(404);
        assertThat(client.put("/b/key", new byte[]{1, 2, 3}).statusCode()).isEqualTo(200);
        assertThat(client.head("/b/key").statusCode()).isEqualTo(200);
        assertThat(client.get("/b/key").body()).containsExactly(1, 2, 3);
    }

    /** It does not say what is missing: a bucket, perhaps. */
    @Test
    void whatAHeadWasToldAnswersNoGet() {
        assertThat(client.head("/b/none").statusCode()).isEqualTo(404);
        assertThat(client.head("/b/none").statusCode()).isEqualTo(404);
        assertThat(store.count("HEAD /b/none")).isEqualTo(1);
        assertAbsent(client.get("/b/none"));
        assertThat(store.count("GET /b/none")).isEqualTo(1);
    }

    @Test
    void anotherErrorIsNotRemembered() {
        store.deny("AK");
        for (int i = 0; i < 2; i++) {
            assertThat(client.get("/b/none").statusCode()).isEqualTo(403);
        }
        assertThat(store.count("GET /b/none")).isEqualTo(2);
    }
}
