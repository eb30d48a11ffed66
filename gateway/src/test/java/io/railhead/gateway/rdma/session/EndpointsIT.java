package io.railhead.gateway.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How peers learn where this gateway's fabrics are. */
class EndpointsIT {
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              name: rack7
            rdma:
              advertise: {addresses: [rack7-ib, 10.1.0.1], port: 7472}
              channel: {max_requests: 5, keep_alive: 3s}
            """);
    private final TestClient client = gateway.client();

    private static JsonObject json(HttpResponse<byte[]> answer) {
        String body = new String(answer.body(), StandardCharsets.UTF_8);
        assertThat(answer.statusCode()).as(body).isEqualTo(200);
        assertThat(answer.headers().firstValue("content-type")).contains("application/json");
        return new JsonObject(body);
    }

    private JsonObject loopback() {
        return new JsonObject().put("fabric", "loopback")
                .put("usable", true)
                .put("socket", gateway.socket().toString())
                .put("max_window", 0xffff_ffffL)
                .put("max_requests", 5)
                .put("max_message_bytes", 4096)
                .put("max_buffers", 1024)
                .put("keep_alive_millis", 3000)
                .put("version", 1)
                .put("max_operation", 12)
                .put("max_windows", 64);
    }

    @Test
    void everyFabricIsListedWithWhatItNeedsOrWhyItCannotBeUsed() {
        JsonObject answer = json(client.get("/.railhead/endpoints"));

        assertThat(answer.getJsonObject("gateway").getString("name")).isEqualTo("rack7");
        assertThat(answer.getJsonObject("gateway").getString("id")).matches("[0-9a-f]{16}");
        assertThat(answer.getJsonArray("versions")).isEqualTo(new JsonArray().add(1));
        JsonObject verbs = loopback().put("fabric", "verbs")
                .put("usable", false)
                .put("reason", "switched off by rdma.verbs.enabled")
                .put("addresses", new JsonArray().add("rack7-ib").add("10.1.0.1"))
                .put("port", 7472)
                .put("path_mtu", 4096);
        verbs.remove("socket");
        assertThat(new JsonObject(answer.getJsonArray("fabrics").getJsonObject(0).encode()))
                .isEqualTo(new JsonObject(loopback().encode()));
        assertThat(new JsonObject(answer.getJsonArray("fabrics").getJsonObject(1).encode()))
                .isEqualTo(new JsonObject(verbs.encode()));
        assertThat(answer.getJsonArray("fabrics")).hasSize(2);
    }

    @Test
    void anOpenAnswersWhatIsListedForItsFabric() {
        JsonObject answer = json(
                client.send("POST", "/.railhead/sessions?fabric=loopback", new byte[0]));

        assertThat((String) answer.remove("session")).matches("[0-9a-f]{32}");
        assertThat(answer).isEqualTo(new JsonObject(loopback().encode()));
    }

    @Test
    void aFabricThatCannotBeUsedOpensNoSessionAndSaysWhy() {
        HttpResponse<byte[]> answer = client.send("POST", "/.railhead/sessions?fabric=verbs",
                new byte[0]);
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(new String(answer.body(), StandardCharsets.UTF_8)).contains("RDMAUnavailable",
                "verbs: switched off by rdma.verbs.enabled");
    }

    @Test
    void anUnknownFabricIsRefusedByName() {
        HttpResponse<byte[]> answer = client.send("POST", "/.railhead/sessions?fabric=tcp",
                new byte[0]);
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(new String(answer.body(), StandardCharsets.UTF_8))
                .contains("fabric must be one of loopback, verbs.");
    }

    @Test
    void onlyWhoSignsLearnsThem() {
        assertThat(client.anonymous("GET", "/.railhead/endpoints").statusCode()).isEqualTo(403);
        assertThat(gateway.client("AK", "wrong").get("/.railhead/endpoints").statusCode())
                .isEqualTo(403);
    }

    @Test
    void endpointsAreOnlyRead() {
        assertThat(client.put("/.railhead/endpoints", new byte[0]).statusCode()).isEqualTo(405);
        assertThat(client.get("/.railhead/elsewhere").statusCode()).isEqualTo(405);
        assertThat(client.send(HttpRequest.newBuilder(
                client.presigned("POST", "/.railhead/sessions?fabric=loopback",
                        Duration.ofMinutes(1)))
                .POST(HttpRequest.BodyPublishers.noBody())
                .build()).statusCode()).isEqualTo(405);
    }
}
