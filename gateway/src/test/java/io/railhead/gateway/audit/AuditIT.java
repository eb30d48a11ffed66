package io.railhead.gateway.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Request;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The audit stream of a gateway, read back from its file. */
class AuditIT {
    private static final String CANARY = "CaNaRy7f3d";
    private static final String POLICY = """
            {"Version": "2012-10-17", "Statement": [
              {"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "*"},
              {"Effect": "Deny", "Principal": "*", "Action": "s3:GetObject",
               "Resource": "arn:aws:s3:::closed/*"}]}
            """;
    private static final String PRINCIPALS = """
            principals:
              - name: trainer
                tenant: research
                keys: [{access_key: AK, secret_key: SK}]
              - name: operator
                tenant: research
                keys: [{access_key: ADMIN, secret_key: admin-secret}]
                admin: true
            """;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway: {name: rack1, policy: policy.json}
            rules: [{bucket: held, freshness: immutable}]
            audit: {file: audit.jsonl}
            """).principals(PRINCIPALS).file("policy.json", POLICY);
    private final TestClient client = gateway.client();
    private final HttpClient http = HttpClient.newHttpClient();

    private Path file() {
        return gateway.directory().resolve("audit.jsonl");
    }

    private List<JsonObject> events(String kind) {
        try {
            return Files.readAllLines(file())
                    .stream()
                    .map(JsonObject::new)
                    .filter(event -> kind
                            .equals(event.getJsonObject("metadata").getString("event_code")))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private JsonObject only(String kind) {
        TestGateway.await(() -> !events(kind).isEmpty());
        assertThat(events(kind)).hasSize(1);
        return events(kind).getFirst();
    }

    private static String text(JsonObject event, String... path) {
        JsonObject at = event;
        for (int i = 0; i < path.length - 1; i++) {
            at = at.getJsonObject(path[i]);
        }
        return at.getString(path[path.length - 1]);
    }

    private static String resource(JsonObject event) {
        JsonArray resources = event.getJsonArray("resources");
        return resources.getJsonObject(0).getString("name");
    }

    @Test
    void aStartIsTheFirstEventAndHasTheFieldsOfItsClass() {
        JsonObject event = only("audit_started");
        assertThat(event.getInteger("class_uid")).isEqualTo(6002);
        assertThat(event.getInteger("category_uid")).isEqualTo(6);
        assertThat(event.getInteger("activity_id")).isEqualTo(3);
        assertThat(event.getInteger("type_uid")).isEqualTo(600203);
        assertThat(event.getString("status")).isEqualTo("Success");
        assertThat(event.getLong("time")).isBetween(System.currentTimeMillis() - 60_000,
                System.currentTimeMillis());
        assertThat(text(event, "dst_endpoint", "name")).isEqualTo("rack1");
        assertThat(event.getJsonObject("metadata").getLong("sequence")).isEqualTo(1);
        assertThat(gateway.metric("railhead_audit_events_total{kind=\"audit_started\",}")).isOne();
    }

    @Test
    void aRefusedLoginNamesTheOwnerOfTheKeyTheAddressAndTheRequest() {
        HttpResponse<byte[]> answer = gateway.client("AK", "guess").get("/held/a");
        assertThat(answer.statusCode()).isEqualTo(403);
        JsonObject event = only("login_refused");
        assertThat(event.getInteger("class_uid")).isEqualTo(3002);
        assertThat(event.getString("status")).isEqualTo("Failure");
        assertThat(event.getString("status_code")).isEqualTo("SignatureDoesNotMatch");
        assertThat(text(event, "actor", "user", "name")).isEqualTo("trainer");
        assertThat(text(event, "user", "name")).isEqualTo("trainer");
        assertThat(text(event, "actor", "user", "org", "name")).isEqualTo("research");
        assertThat(text(event, "src_endpoint", "ip")).isEqualTo("127.0.0.1");
        assertThat(text(event, "http_request", "uid"))
                .isEqualTo(answer.headers().firstValue("x-amz-request-id").orElseThrow());
        assertThat(text(event, "api", "operation")).isEqualTo("REST.GET.OBJECT");
        assertThat(resource(event)).isEqualTo("held/a");
    }

    @Test
    void everyWayToFailALoginIsOne() throws Exception {
        assertThat(gateway.client("NOBODY", "x").get("/held/a").statusCode()).isEqualTo(403);
        assertThat(client.at(Clock.offset(Clock.systemUTC(), Duration.ofHours(1)))
                .get("/held/a")
                .statusCode()).isEqualTo(403);
        assertThat(http.send(HttpRequest
                .newBuilder(gateway.client("AK", "guess")
                        .presigned("GET", "/held/a", Duration.ofMinutes(1)))
                .build(), HttpResponse.BodyHandlers.discarding()).statusCode()).isEqualTo(403);
        assertThat(client.anonymous("GET", "/.railhead/endpoints").statusCode()).isEqualTo(403);
        TestGateway.await(() -> events("login_refused").size() == 4);
        assertThat(events("login_refused")).extracting(event -> event.getString("status_code"))
                .containsExactly("InvalidAccessKeyId", "RequestTimeTooSkewed",
                        "SignatureDoesNotMatch", "AccessDenied");
    }

    @Test
    void aDenialSaysWhoDenied() {
        assertThat(client.get("/closed/secret").statusCode()).isEqualTo(403);
        assertThat(only("access_denied").getString("message")).contains("policy");
        store.deny("AK");
        assertThat(client.get("/open/object").statusCode()).isEqualTo(403);
        TestGateway.await(() -> events("access_denied").size() == 2);
        JsonObject event = events("access_denied").getLast();
        assertThat(event.getString("message")).contains("store");
        assertThat(event.getInteger("class_uid")).isEqualTo(6003);
        assertThat(event.getInteger("activity_id")).as("Read").isEqualTo(2);
        assertThat(text(event, "actor", "user", "name")).isEqualTo("trainer");
        assertThat(resource(event)).isEqualTo("open/object");
        assertThat(events("login_refused")).isEmpty();
    }

    @Test
    void aServedRequestHasNoEvent() {
        store.put("/held/a", new byte[100]);
        for (int i = 0; i < 3; i++) {
            assertThat(client.get("/held/a").statusCode()).isEqualTo(200);
        }
        assertThat(client.get("/held/none").statusCode()).isEqualTo(404);
        only("audit_started");
        assertThat(gateway.metrics()
                .lines()
                .filter(line -> line.startsWith("railhead_audit_events_total{"))).hasSize(1);
    }

    @Test
    void anOpenedSessionAndADeniedNativeRequestAreEvents() throws Exception {
        store.put("/closed/a", new byte[100]);
        try (TestPeer peer = new TestPeer(client, "SK", 1 << 20)) {
            JsonObject opened = only("rdma_opened");
            assertThat(text(opened, "actor", "session", "uid")).matches("[0-9a-f]{32}");
            assertThat(text(opened, "api", "operation")).isEqualTo("RAILHEAD.POST.SESSIONS");
            assertThat(peer.ask(Request.get(0, "closed", "a", peer.key(), 0, 1 << 20)).status())
                    .isEqualTo(403);
            JsonObject event = only("access_denied");
            assertThat(text(event, "api", "operation")).isEqualTo("NATIVE.GET");
            assertThat(text(event, "actor", "session", "uid"))
                    .isEqualTo(text(opened, "actor", "session", "uid"));
            assertThat(text(event, "src_endpoint", "ip")).isEqualTo("127.0.0.1");
            assertThat(resource(event)).isEqualTo("closed/a");
        }
    }

    @Test
    void aTokenIsOneEventAMinuteAndARefusedOneToo() {
        store.put("/held/a", new byte[100]);
        try (TestPeer peer = new TestPeer(client, "SK", 1 << 20)) {
            for (int i = 0; i < 3; i++) {
                assertThat(client.get("/held/a", peer.headers(0, 100)).statusCode())
                        .isEqualTo(200);
            }
            JsonObject event = only("rdma_token");
            assertThat(event.getString("message")).contains("loopback");
            assertThat(resource(event)).isEqualTo("held/a");
            TestClient other = gateway.client("ADMIN", "admin-secret");
            assertThat(other.get("/held/a", peer.headers(0, 100)).statusCode()).isEqualTo(403);
            assertThat(only("rdma_refused").getString("status_code"))
                    .isEqualTo("RDMAForeignSession");
        }
    }

    @Test
    void adminCallsAndTheirRefusalsAreEvents() {
        TestClient admin = new TestClient(gateway::admin, "ADMIN", "admin-secret");
        byte[] drain = "{\"undo\":true}".getBytes(StandardCharsets.UTF_8);
        assertThat(admin.send("POST", "/.railhead/admin/drain", drain).statusCode())
                .isEqualTo(200);
        JsonObject call = only("admin_call");
        assertThat(text(call, "api", "operation")).isEqualTo("ADMIN.drain");
        assertThat(text(call, "actor", "user", "name")).isEqualTo("operator");
        assertThat(call.getJsonArray("resources"))
                .contains(JsonObject.of("type", "undo", "name", "true"));
        assertThat(new TestClient(gateway::admin, "AK", "SK")
                .send("POST", "/.railhead/admin/drain", drain)
                .statusCode()).isEqualTo(403);
        assertThat(text(only("admin_refused"), "actor", "user", "name")).isEqualTo("trainer");
        assertThat(new TestClient(gateway::admin, "ADMIN", "guess")
                .send("POST", "/.railhead/admin/drain", drain)
                .statusCode()).isEqualTo(403);
        assertThat(only("login_refused").getString("status_code"))
                .isEqualTo("SignatureDoesNotMatch");
    }

    @Test
    void aRefusedAdminCallSaysWhatItWasAbout() {
        TestClient admin = new TestClient(gateway::admin, "ADMIN", "admin-secret");
        byte[] evict = "{\"bucket\":\"b\",\"prefix\":\"p/\",\"more\":1}"
                .getBytes(StandardCharsets.UTF_8);
        assertThat(admin.send("POST", "/.railhead/admin/evict", evict).statusCode())
                .isEqualTo(400);
        assertThat(only("admin_refused").getJsonArray("resources"))
                .contains(JsonObject.of("type", "bucket", "name", "b"));
    }

    @Test
    void reloadsAndChangedPrincipalsAreEvents() throws Exception {
        Path credentials = gateway.directory().resolve("credentials.yaml");
        Files.writeString(credentials, "principals: [{name: x, keys: [{access_key: " + CANARY);
        gateway.credentials().reload();
        JsonObject refused = only("reload");
        assertThat(refused.getString("status")).isEqualTo("Failure");
        assertThat(resource(refused)).isEqualTo("credentials");
        Files.writeString(credentials, PRINCIPALS.replace("secret_key: SK", "secret_key: other")
                .replace("operator", "chief"));
        gateway.credentials().reload();
        TestGateway.await(() -> events("reload").size() == 2 && events("key_changed").size() == 3);
        assertThat(events("reload").getLast().getString("status")).isEqualTo("Success");
        assertThat(events("key_changed")).extracting(event -> text(event, "user", "name"),
                event -> event.getInteger("activity_id"))
                .containsExactlyInAnyOrder(tuple("operator", 6), tuple("trainer", 99),
                        tuple("chief", 1));
        assertThat(Files.readString(file())).doesNotContain(CANARY);
    }

    /** Secrets at every place of a request, none of which may reach the stream. */
    @Test
    void noSecretIsInTheStream() throws Exception {
        String[] headers = {"x-amz-security-token", CANARY, "Cookie", "session=" + CANARY,
                "x-amz-rdma-token", CANARY, "User-Agent", CANARY, "Referer", CANARY,
                "x-amz-server-side-encryption-customer-key", CANARY, "x-amz-meta-a", CANARY,
                "Range", "bytes=" + CANARY, "If-Match", CANARY, "x-railhead-token", CANARY};
        for (String path : List.of("/closed/a", "/held/a?X-Amz-Signature=" + CANARY,
                "/held/a?token=" + CANARY + "&versionId=" + CANARY,
                "/held/a%3FX-Amz-Signature=" + CANARY, "/.railhead/sessions?fabric=" + CANARY,
                "/.railhead/events?token=" + CANARY)) {
            for (TestClient each : List.of(client, gateway.client("AK", CANARY),
                    gateway.client(CANARY, "SK"))) {
                each.send("GET", path, new byte[0], headers);
                each.send("POST", path, CANARY.getBytes(StandardCharsets.UTF_8), headers);
            }
            HttpRequest.Builder raw = HttpRequest.newBuilder(gateway.endpoint().resolve(path));
            http.send(raw.header("Authorization", "Bearer " + CANARY).build(),
                    HttpResponse.BodyHandlers.discarding());
            http.send(raw.setHeader("Authorization", "AWS4-HMAC-SHA256 Credential=" + CANARY
                    + "/20260101/x/s3/aws4_request, SignedHeaders=host, Signature=" + CANARY)
                    .build(), HttpResponse.BodyHandlers.discarding());
            http.send(raw.setHeader("Authorization", "AWS " + CANARY + ":" + CANARY).build(),
                    HttpResponse.BodyHandlers.discarding());
        }
        TestClient admin = new TestClient(gateway::admin, "ADMIN", "admin-secret");
        for (String body : List.of("{\"token\":\"" + CANARY + "\"}", CANARY,
                "{\"bucket\":\"b\",\"prefix\":\"\",\"secret\":\"" + CANARY + "\"}")) {
            admin.send("POST", "/.railhead/admin/evict", body.getBytes(StandardCharsets.UTF_8));
            new TestClient(gateway::admin, "ADMIN", CANARY).send("POST", "/.railhead/admin/evict",
                    body.getBytes(StandardCharsets.UTF_8), headers);
        }
        TestGateway.await(() -> !events("admin_refused").isEmpty()
                && !events("login_refused").isEmpty());
        String stream = gateway.stopAndRead("audit.jsonl");
        assertThat(stream).contains("login_refused", "audit_stopped")
                .doesNotContainIgnoringCase(CANARY)
                .doesNotContain("admin-secret");
    }

    @Test
    void aFloodOfRefusedLoginsIsCountedAndLeavesRoomForTheRest() throws Exception {
        TestClient attacker = gateway.client("AK", "guess");
        for (int i = 0; i < 200; i++) {
            attacker.get("/held/a" + i);
        }
        assertThat(client.get("/closed/secret").statusCode()).isEqualTo(403);
        only("access_denied");
        assertThat(events("login_refused")).hasSize(10);
        assertThat(gateway.metric("railhead_audit_suppressed_total{kind=\"login_refused\",}"))
                .isEqualTo(190);
        String stream = gateway.stopAndRead("audit.jsonl");
        assertThat(stream.lines()
                .map(JsonObject::new)
                .filter(event -> "Suppressed".equals(event.getString("status_code")))).hasSize(1);
        assertThat(stream).contains("190 more events of this kind");
    }
}
