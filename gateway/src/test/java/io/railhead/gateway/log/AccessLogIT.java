package io.railhead.gateway.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Request;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The access log, read as tools for S3's server access logs read it. */
class AccessLogIT {
    private static final List<String> FIELDS = List.of("owner", "bucket", "time", "ip", "requester",
            "request", "operation", "key", "uri", "status", "error", "sent", "size", "total",
            "turnaround", "referer", "agent", "version", "host_id", "signature", "cipher",
            "authentication", "host", "tls", "access_point", "acl");
    private static final Pattern FIELD = Pattern.compile("\\[[^\\]]*\\]|\"[^\"]*\"|[^ ]+");
    private static final int BUFFER = 1 << 20;

    private final HttpClient http = HttpClient.newHttpClient();
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rules:
              - bucket: held
                freshness: immutable
              - bucket: plain
                rdma: off
            log:
              access: {file: access.log}
            """);
    private final TestClient client = gateway.client();

    @BeforeEach
    void start() {
        for (String bucket : List.of("held", "plain")) {
            store.put("/" + bucket + "/a%20b", new byte[1000]);
        }
    }

    /** All lines, the gateway being closed: then all are written. */
    private List<Map<String, String>> lines() throws IOException {
        gateway.assertNoLease();
        String log = gateway.stopAndRead("access.log");
        return log.lines().map(AccessLogIT::parse).toList();
    }

    private static Map<String, String> parse(String line) {
        List<String> found = new ArrayList<>();
        Matcher matcher = FIELD.matcher(line);
        while (matcher.find()) {
            found.add(matcher.group());
        }
        Map<String, String> fields = new HashMap<>();
        for (int i = 0; i < FIELDS.size(); i++) {
            fields.put(FIELDS.get(i), found.get(i));
        }
        for (String extra : found.subList(FIELDS.size(), found.size())) {
            String[] pair = extra.split("=", 2);
            fields.put(pair[0], pair[1]);
        }
        return fields;
    }

    private static List<Map<String, String>> named(List<Map<String, String>> lines,
            String operation) {
        return lines.stream().filter(line -> operation.equals(line.get("operation"))).toList();
    }

    private int send(String method, String path, String... headers) {
        return client.send(client.signed(method, path, new byte[0], headers)).statusCode();
    }

    @Test
    void aReadIsALineOfS3sFieldsAndOurs() throws Exception {
        assertThat(send("GET", "/held/a%20b", "User-Agent", "trainer/1", "Referer", "https://r/"))
                .isEqualTo(200);
        assertThat(send("GET", "/held/a%20b", "Range", "bytes=10-19")).isEqualTo(206);
        List<Map<String, String>> lines = lines();
        assertThat(lines).hasSize(2);
        assertThat(lines.get(0)).containsEntry("owner", "-")
                .containsEntry("bucket", "held")
                .containsEntry("ip", "127.0.0.1")
                .containsEntry("requester", "trainer")
                .containsEntry("operation", "REST.GET.OBJECT")
                .containsEntry("key", "a%20b")
                .containsEntry("uri", "\"GET /held/a%20b HTTP/1.1\"")
                .containsEntry("status", "200")
                .containsEntry("error", "-")
                .containsEntry("sent", "1000")
                .containsEntry("size", "1000")
                .containsEntry("referer", "\"https://r/\"")
                .containsEntry("agent", "\"trainer/1\"")
                .containsEntry("signature", "SigV4")
                .containsEntry("authentication", "AuthHeader")
                .containsEntry("tls", "-")
                .containsEntry("backend", "store")
                .containsEntry("cache", "miss")
                .containsEntry("transport", "http");
        assertThat(lines.get(0).get("time"))
                .matches("\\[\\d\\d/[A-Z][a-z]{2}/\\d{4}:\\d\\d:\\d\\d:\\d\\d \\+0000\\]");
        assertThat(lines.get(0).get("request")).matches("[0-9A-F]{16}");
        assertThat(lines.get(1)).containsEntry("cache", "hit")
                .containsEntry("status", "206")
                .containsEntry("sent", "10")
                .containsEntry("size", "1000");
    }

    @Test
    void errorsCarryTheirCodeWhoeverMadeThem() throws Exception {
        assertThat(send("GET", "/held/none")).isEqualTo(404);
        assertThat(send("GET", "/held/none", "Cache-Control", "x")).isEqualTo(404);
        HttpRequest forged = client.signed("DELETE", "/held/a%20b?tagging", new byte[0]);
        assertThat(http.send(HttpRequest.newBuilder(forged.uri())
                .DELETE()
                .header("Authorization",
                        forged.headers().firstValue("Authorization").orElseThrow())
                .header("x-amz-date", "20200101T000000Z")
                .header("x-amz-content-sha256", "UNSIGNED-PAYLOAD")
                .build(), BodyHandlers.discarding()).statusCode()).isBetween(400, 403);
        List<Map<String, String>> lines = lines();
        assertThat(lines).extracting(line -> line.get("error"))
                .startsWith("NoSuchKey", "NoSuchKey")
                .doesNotContain("-");
        assertThat(lines.get(2)).containsEntry("requester", "-")
                .containsEntry("operation", "REST.DELETE.OBJECT_TAGGING")
                .containsEntry("bucket", "held");
    }

    @Test
    void presignedAddressesCannotBeUsedByWhoReadsTheLog() throws Exception {
        URI uri = client.presigned("GET", "/held/a%20b", Duration.ofHours(1));
        http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding());
        Map<String, String> line = lines().getFirst();
        assertThat(line).containsEntry("authentication", "QueryString")
                .containsEntry("signature", "SigV4")
                .containsEntry("status", "200");
        assertThat(line.get("uri")).contains("X-Amz-Signature=****");
        assertThat(uri.getQuery()).contains("X-Amz-Signature=")
                .doesNotContain("X-Amz-Signature=****");
    }

    /** What a client sends can neither end a line nor a field. */
    @Test
    void nobodyWritesTheLogButUs() throws Exception {
        assertThat(send("GET", "/held/a%20b", "User-Agent", "x\" 200 - \"é\ty")).isEqualTo(200);
        List<Map<String, String>> lines = lines();
        assertThat(lines).hasSize(1);
        assertThat(lines.getFirst().get("agent")).startsWith("\"x%22 200 - %22");
    }

    @Test
    void oneSidedAndNativeReadsSayHowTheyWent() throws Exception {
        try (TestPeer peer = new TestPeer(client, "SK", BUFFER)) {
            assertThat(send("GET", "/held/a%20b", peer.headers(0, BUFFER))).isEqualTo(200);
            assertThat(send("GET", "/plain/a%20b", peer.headers(0, BUFFER))).isEqualTo(200);
            for (int i = 0; i < 2; i++) {
                assertThat(peer.ask(Request.get(0, "held", "a b", peer.key(), 0, BUFFER)).status())
                        .isEqualTo(200);
            }
            assertThat(peer.ask(Request.get(0, "plain", "a b", peer.key(), 0, BUFFER)).status())
                    .isZero();
            assertThat(peer.ask(Request.head(0, "held", "none")).status()).isEqualTo(404);
        }
        List<Map<String, String>> lines = lines();
        assertThat(lines).hasSize(7);
        assertThat(named(lines, "RAILHEAD.POST.SESSIONS")).hasSize(1);
        List<Map<String, String>> http = named(lines, "REST.GET.OBJECT");
        assertThat(http.get(0)).containsEntry("transport", "loopback")
                .containsEntry("rdma_bytes", "1000")
                .containsEntry("sent", "-");
        assertThat(http.get(1)).containsEntry("transport", "http")
                .containsEntry("declined", "rule");
        List<Map<String, String>> own = named(lines, "NATIVE.GET.OBJECT");
        assertThat(own).hasSize(3);
        for (Map<String, String> line : own.subList(0, 2)) {
            assertThat(line).containsEntry("requester", "trainer")
                    .containsEntry("bucket", "held")
                    .containsEntry("key", "a%20b")
                    .containsEntry("transport", "loopback")
                    .containsEntry("cache", "hit")
                    .containsEntry("ip", "127.0.0.1")
                    .containsEntry("rdma_bytes", "1000");
        }
        assertThat(own.get(2)).containsEntry("declined", "rule").containsEntry("status", "-");
        assertThat(named(lines, "NATIVE.HEAD.OBJECT").getFirst()).containsEntry("status", "404");
    }
}
