package io.railhead.gateway;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A gateway with an administrator and a trainer, in front of a store that a test fills. */
public abstract class GatewayWithAdministrator {
    public static final int RUN = 256 << 10;

    public final FakeStore store = new FakeStore();
    @RegisterExtension
    public final TestGateway gateway = TestGateway.over(store).config("""
            cache: {memory: 32MiB, page: 64KiB, run: 256KiB, window: 1MiB}
            rules:
              - {bucket: plain, cache: off}
              - {bucket: small, max_object: 1KiB}
              - {freshness: {bounded: 1h}, shared: true}
            """).principals("""
            principals:
              - name: operator
                keys:
                  - {access_key: ADMIN, secret_key: admin-secret}
                  - {access_key: AK, secret_key: SK}
                admin: true
              - name: trainer
                keys: [{access_key: TRAINER, secret_key: trainer-secret}]
            """);
    public final TestClient admin = new TestClient(gateway::admin, "ADMIN", "admin-secret");
    public final TestClient trainer = gateway.client("TRAINER", "trainer-secret");

    public HttpResponse<byte[]> post(String call, JsonObject body) {
        return admin.send("POST", "/.railhead/admin/" + call,
                body.encode().getBytes(StandardCharsets.UTF_8));
    }

    /** The last line of what is answered. */
    public JsonObject call(String call, JsonObject body) {
        HttpResponse<byte[]> answer = post(call, body);
        String text = new String(answer.body(), StandardCharsets.UTF_8);
        assertThat(answer.statusCode()).as(text).isEqualTo(200);
        return new JsonObject(text.lines().toList().getLast());
    }

    public String refused(HttpResponse<byte[]> answer, int status) {
        String document = new String(answer.body(), StandardCharsets.UTF_8);
        assertThat(answer.statusCode()).as(document).isEqualTo(status);
        return document;
    }

    public double calls(String call, String result) {
        return gateway.metric("railhead_admin_calls_total{call=\"" + call + "\",result=\"" + result
                + "\",}");
    }

    public static JsonObject of(String bucket, String prefix) {
        return JsonObject.of("bucket", bucket, "prefix", prefix);
    }

    public void putFive() {
        for (int i = 0; i < 5; i++) {
            store.put("/b/set/a%20" + i, random(i, RUN + 1000 * i));
        }
        store.put("/b/other", random(9, 100));
    }
}
