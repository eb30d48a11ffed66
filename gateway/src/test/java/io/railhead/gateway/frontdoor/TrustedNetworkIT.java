package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.protocol.token.Token;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A gateway that asks nobody who it is. */
class TrustedNetworkIT {
    private static final byte[] OBJECT = "whoever asks may have it".getBytes();
    private static final String CONFIG = """
            gateway:
              authentication: trusted_network
              trusted_network: {principal: rack}
            rules:
              - freshness: immutable
            """;
    private static final String PRINCIPALS = """
            principals:
              - name: rack
                keys: [{access_key: UNUSED, secret_key: unused-secret}]
                backend_credential: {access_key: STORE, secret_key: store-secret}
            """;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store)
            .config(CONFIG)
            .principals(PRINCIPALS);

    private TestGateway another(String config, String principals) {
        return TestGateway.over(store.endpoint())
                .config(config)
                .principals(principals)
                .start();
    }

    @Test
    void everyClientIsThePrincipalHoweverItSigns() {
        store.put("/b/key", OBJECT);
        TestClient client = gateway.client("WHOEVER", "whatever");
        assertThat(client.get("/b/key").body()).isEqualTo(OBJECT);
        assertThat(client.anonymous("GET", "/b/key").body()).isEqualTo(OBJECT);
        assertThat(store.count("GET /b/key")).isEqualTo(1);
        store.deny("STORE");
        assertThat(client.get("/b/other").statusCode()).isEqualTo(403);
    }

    @Test
    void whatIsWrittenIsUnframedAndItsDeclaredDigestHolds() {
        TestClient client = gateway.client("WHOEVER", "whatever");
        assertThat(client.put("/b/key", OBJECT).statusCode()).isEqualTo(200);
        assertThat(store.object("/b/key")).isEqualTo(OBJECT);
        String chunked = Integer.toHexString(OBJECT.length) + ";chunk-signature=" + "0".repeat(64)
                + "\r\n" + new String(OBJECT)
                + "\r\n0;chunk-signature=" + "0".repeat(64) + "\r\n\r\n";
        HttpResponse<byte[]> answer = client.send(HttpRequest
                .newBuilder(gateway.endpoint().resolve("/b/chunked"))
                .PUT(HttpRequest.BodyPublishers.ofString(chunked))
                .header("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD")
                .header("x-amz-decoded-content-length", Integer.toString(OBJECT.length))
                .header("content-encoding", "aws-chunked")
                .build());
        assertThat(answer.statusCode()).as(new String(answer.body())).isEqualTo(200);
        assertThat(store.object("/b/chunked")).isEqualTo(OBJECT);
    }

    @Test
    void noTokenAndNoSessionIsTaken() {
        store.put("/b/key", OBJECT);
        TestClient client = gateway.client("UNUSED", "unused-secret");
        assertThat(client.send("POST", "/.railhead/sessions?fabric=loopback", new byte[0])
                .statusCode()).isEqualTo(403);
        String token = Token.loopback(4096, 4096, 1, 1).format();
        HttpResponse<byte[]> get = client.get("/b/key", "x-amz-rdma-token", token);
        assertThat(get.body()).isEqualTo(OBJECT);
        assertThat(get.headers().firstValue("x-railhead-rdma-declined")).contains("authentication");
        HttpResponse<byte[]> put = client.put("/b/new", new byte[0], "x-amz-rdma-token", token);
        assertThat(put.statusCode()).isEqualTo(501);
        assertThat(store.object("/b/new")).isNull();
    }

    @Test
    void severalTenantsAreRefusedAtTheStartAndAtAReload() throws Exception {
        String two = PRINCIPALS + """
                  - name: guest
                    tenant: visitors
                    keys: [{access_key: GUEST, secret_key: guest-secret}]
                """.indent(0);
        assertThatThrownBy(() -> another(CONFIG, two))
                .hasMessageContaining("cannot be told apart");
        assertThatThrownBy(() -> another(CONFIG.replace("rack", "nobody"), PRINCIPALS))
                .hasMessageContaining("there is no 'nobody'");
        Files.writeString(gateway.directory().resolve("credentials.yaml"), two);
        List<Boolean> usable = new ArrayList<>();
        gateway.credentials().tell(refusal -> usable.add(refusal.isEmpty()));
        gateway.credentials().reload();
        assertThat(usable).containsExactly(false);
        assertThat(gateway.credentials().find("GUEST", null)).isNull();
    }
}
