package io.railhead.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What stores tell of their objects. */
class EventsIT {
    private static final String TOKEN = "a-token-of-the-store";
    private static final byte[] BEFORE = random(1);
    private static final byte[] AFTER = random(2);

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .build();
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              events: {enabled: true, token_file: token}
            rules:
              - freshness: {bounded: 1h}
            """).file("token", TOKEN + "\n").principals(TestGateway.TRAINER + TestGateway.OTHER);
    private final TestClient client = gateway.client();
    private final TestClient other = gateway.client("OTHER", "other-secret");

    private static byte[] random(int seed) {
        return RandomBytes.random(seed, 10_000);
    }

    private static String event(String key) {
        return "{\"Records\":[{\"eventName\":\"ObjectCreated:Put\",\"s3\":{\"bucket\":{\"name\":"
                + "\"held\"},\"object\":{\"key\":\"" + key + "\",\"sequencer\":\"01\"}}}]}";
    }

    private HttpResponse<String> send(String method, String authorization, String body) {
        URI uri = gateway.endpoint().resolve("/.railhead/events");
        HttpRequest.Builder request = HttpRequest.newBuilder(uri)
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        if (!authorization.isEmpty()) {
            request.header("Authorization", authorization);
        }
        return http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString()).join();
    }

    private double count(String outcome) {
        return gateway.metric("railhead_events_total{outcome=\"" + outcome + "\",}");
    }

    /** Held by both accounts, and then changed past the gateway. */
    private void holdWhatIsOld(String path) {
        store.put(path, BEFORE);
        for (TestClient each : new TestClient[]{client, other}) {
            assertThat(each.get(path).body()).isEqualTo(BEFORE);
        }
        store.put(path, AFTER);
        assertThat(client.get(path).body()).isEqualTo(BEFORE);
    }

    @Test
    void whatItNamesIsForgottenInEveryAccountsView() {
        holdWhatIsOld("/held/a%20dir/100%25%2B1");
        assertThat(send("POST", "Bearer " + TOKEN, event("a+dir%2F100%25%2B1")).statusCode())
                .isEqualTo(200);
        assertThat(client.get("/held/a%20dir/100%25%2B1").body()).isEqualTo(AFTER);
        assertThat(other.get("/held/a%20dir/100%25%2B1").body()).isEqualTo(AFTER);
        assertThat(count("invalidated")).isEqualTo(1);
    }

    @Test
    void eventsThatComeTwiceOrLateOrOfNothingDoNoHarm() {
        holdWhatIsOld("/held/raw key".replace(" ", "%20"));
        for (int i = 0; i < 3; i++) {
            assertThat(send("POST", "Bearer " + TOKEN, event("raw key")).statusCode())
                    .isEqualTo(200);
            assertThat(client.get("/held/raw%20key").body()).isEqualTo(AFTER);
            assertThat(send("POST", TOKEN, event("unheard-of")).statusCode()).isEqualTo(200);
        }
        assertThat(count("invalidated")).isEqualTo(6);
    }

    @Test
    void whoeverHasNotTheTokenChangesNothing() {
        holdWhatIsOld("/held/key");
        for (String wrong : new String[]{"", "Bearer x", "AWS4-HMAC-SHA256 " + TOKEN,
                TOKEN.substring(1)}) {
            HttpResponse<String> answer = send("POST", wrong, event("key"));
            assertThat(answer.statusCode()).as(wrong).isEqualTo(401);
            assertThat(answer.headers().firstValue("www-authenticate")).isPresent();
        }
        assertThat(client.send("POST", "/.railhead/events", event("key").getBytes()).statusCode())
                .isEqualTo(401);
        assertThat(client.get("/held/key").body()).isEqualTo(BEFORE);
        assertThat(count("unauthorized")).isEqualTo(5);
        String basic = Base64.getEncoder().encodeToString(("rgw:" + TOKEN).getBytes());
        assertThat(send("POST", "Basic " + basic, event("key")).statusCode()).isEqualTo(200);
        assertThat(client.get("/held/key").body()).isEqualTo(AFTER);
    }

    @Test
    void aProbeIsAnswered() {
        assertThat(send("HEAD", "", "").statusCode()).isEqualTo(200);
        assertThat(send("OPTIONS", "", "").statusCode()).isEqualTo(200);
        assertThat(send("GET", "", "").statusCode()).isEqualTo(405);
    }

    @Test
    void whatIsNoEventIsRefusedWithItsFault() {
        HttpResponse<String> answer = send("POST", TOKEN, "{\"Records\":[{}]}");
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains("Records[0].s3.bucket.name is missing");
        assertThat(count("malformed")).isEqualTo(1);
        assertThat(send("POST", TOKEN, "{\"Service\":\"Amazon S3\",\"Event\":\"s3:TestEvent\"}")
                .statusCode()).isEqualTo(200);
        assertThat(count("test")).isEqualTo(1);
        assertThat(send("POST", TOKEN, " ".repeat(300_000)).statusCode()).isEqualTo(413);
        assertThat(count("too_large")).isEqualTo(1);
    }

    @Test
    void anotherTokenIsTakenSoonAfterItsFileHasChanged() throws IOException {
        Files.writeString(gateway.directory().resolve("token"), "short");
        TestGateway.await(() -> gateway.metric(
                "railhead_file_reloads_total{setting=\"events\",outcome=\"refused\",}") == 1);
        assertThat(gateway.metric("railhead_file_refused{setting=\"events\",}")).isOne();
        assertThat(send("POST", TOKEN, event("key")).statusCode()).isEqualTo(200);
        Files.writeString(gateway.directory().resolve("token"), "another-token-of-the-store");
        TestGateway.await(() -> gateway.metric(
                "railhead_file_reloads_total{setting=\"events\",outcome=\"used\",}") == 1);
        assertThat(gateway.metric("railhead_file_refused{setting=\"events\",}")).isZero();
        assertThat(send("POST", TOKEN, event("key")).statusCode()).isEqualTo(401);
        assertThat(send("POST", "another-token-of-the-store", event("key")).statusCode())
                .isEqualTo(200);
    }
}
