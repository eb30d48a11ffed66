package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.Gateway;
import io.railhead.gateway.TestCertificates;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.identity.CredentialStore;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The health and admin ports over TLS, with client certificates. */
class OperatorPortsTlsIT {
    @TempDir
    static Path made;

    private static TestCertificates certificates;

    @TempDir
    Path folder;

    private FakeStore store;
    private CredentialStore credentials;
    private Gateway gateway;

    @BeforeAll
    static void createCertificates() throws Exception {
        certificates = new TestCertificates(made).create("first", "RSA")
                .create("second", "EC")
                .create("client", "EC")
                .create("foreign", "EC");
    }

    @BeforeEach
    void start() throws Exception {
        store = new FakeStore();
        for (String port : List.of("health", "admin")) {
            use(port, "first", "first");
        }
        Files.writeString(folder.resolve("credentials.yaml"), """
                principals:
                  - {name: operator, admin: true, keys: [{access_key: ADMIN, secret_key: s}]}
                """);
        Files.writeString(folder.resolve("policy.json"), """
                {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Principal": "*",
                 "Action": "s3:*", "Resource": "*",
                 "Condition": {"Bool": {"aws:SecureTransport": "true"}}}}
                """);
        Path config = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway:
                  listen: 127.0.0.1:0
                  health: 127.0.0.1:0
                  credentials: credentials.yaml
                  policy: policy.json
                  event_loops: 1
                  drain: 1s
                  health_tls: {certificate: health.pem, key: health.key, client_ca: %1$s}
                admin:
                  listen: 127.0.0.1:0
                  tls: {certificate: admin.pem, key: admin.key, client_ca: %1$s}
                cache: {memory: 64MiB}
                backends: {store: {endpoints: ["%2$s"]}}
                rdma: {loopback: {enabled: false}}
                """.formatted(certificates.certificate("client"), store.endpoint()));
        credentials = CredentialStore.load(folder.resolve("credentials.yaml"));
        gateway = Gateway.start(ConfigLoader.load(config), credentials);
    }

    @AfterEach
    void stop() {
        gateway.close();
        credentials.close();
        store.close();
    }

    private void use(String port, String certificate, String key) throws IOException {
        replace(port + ".key", certificates.key(key));
        replace(port + ".pem", certificates.certificate(certificate));
    }

    private void replace(String name, Path by) throws IOException {
        Path next = Files.copy(by, folder.resolve(name + ".next"));
        Files.move(next, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }

    private static HttpResponse<String> get(int port, String path, SSLContext tls)
            throws Exception {
        try (HttpClient client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .sslContext(tls)
                .build()) {
            return client.send(
                    HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + path)).build(),
                    HttpResponse.BodyHandlers.ofString());
        }
    }

    private static SSLContext trusting(String server, @Nullable String own) throws Exception {
        return certificates.context(List.of(server), own);
    }

    @Test
    void theAdminPortAnswersOnlyClientsOfItsAuthority() throws Exception {
        int port = gateway.adminPort();
        assertThat(get(port, "/status.json", trusting("first", "client")).statusCode())
                .isEqualTo(200);
        assertThatThrownBy(() -> get(port, "/status.json", trusting("first", null)))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> get(port, "/status.json", trusting("first", "foreign")))
                .isInstanceOf(IOException.class);
        try (RawConnection raw = new RawConnection(URI.create("http://127.0.0.1:" + port))) {
            raw.send("GET /status.json HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assertThat(raw.isClosedByPeer()).as("cleartext").isTrue();
        }
        byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
        TestClient signed = new TestClient(URI.create("https://127.0.0.1:" + port), "ADMIN", "s",
                trusting("first", "client"));
        assertThat(signed.send("POST", "/.railhead/admin/pins", body).statusCode()).isEqualTo(200);
        TestClient forged = new TestClient(URI.create("https://127.0.0.1:" + port), "ADMIN", "x",
                trusting("first", "client"));
        assertThat(forged.send("POST", "/.railhead/admin/pins", body).statusCode())
                .as("a certificate replaces no signature")
                .isEqualTo(403);
    }

    /** A policy that asks for TLS is satisfied by what came over TLS, on this port too. */
    @Test
    void aWarmingOverTlsIsSecureToPolicies() throws Exception {
        store.put("/b/object", new byte[10]);
        TestClient operator = new TestClient(
                URI.create("https://127.0.0.1:" + gateway.adminPort()), "ADMIN", "s",
                trusting("first", "client"));
        HttpResponse<byte[]> warmed = operator.send("POST", "/.railhead/admin/warm",
                "{\"bucket\": \"b\", \"keys\": [\"object\"]}".getBytes(StandardCharsets.UTF_8));
        assertThat(new String(warmed.body(), StandardCharsets.UTF_8))
                .contains("\"state\":\"done\",\"objects\":1,", "\"refused\":0,");
    }

    @Test
    void probesNeedNoCertificateAndMetricsDo() throws Exception {
        int port = gateway.healthPort();
        SSLContext probe = trusting("first", null);
        assertThat(get(port, "/livez", probe).statusCode()).isEqualTo(200);
        assertThat(get(port, "/readyz", probe).body()).isEqualTo("ok\n");
        assertThat(get(port, "/metrics", probe).statusCode()).isEqualTo(403);
        SSLContext prometheus = trusting("first", "client");
        assertThat(get(port, "/metrics", prometheus).body()).contains("railhead_build_info");
        assertThat(get(port, "/readyz", prometheus).body()).contains("store store");
        // The client sees the authority that is asked for, and shows no foreign certificate.
        assertThat(get(port, "/metrics", trusting("first", "foreign")).statusCode())
                .isEqualTo(403);
    }

    @Test
    void aChangedCertificateIsUsedAndABadOneIsNot() throws Exception {
        use("health", "first", "second");
        awaitReload("health_tls", "refused");
        assertThat(get(gateway.healthPort(), "/livez", trusting("first", null)).statusCode())
                .isEqualTo(200);
        use("health", "second", "second");
        use("admin", "second", "second");
        awaitReload("health_tls", "used");
        awaitReload("admin_tls", "used");
        assertThat(get(gateway.adminPort(), "/status.json", trusting("second", "client"))
                .statusCode()).isEqualTo(200);
        assertThatThrownBy(() -> get(gateway.adminPort(), "/", trusting("first", "client")))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> get(gateway.adminPort(), "/", trusting("second", null)))
                .as("the authority stays")
                .isInstanceOf(IOException.class);
    }

    /** Trusts both certificates, since the health port's own is what changes. */
    private void awaitReload(String setting, String outcome) throws Exception {
        SSLContext both = certificates.context(List.of("first", "second"), "client");
        TestGateway.await(() -> {
            try {
                return get(gateway.healthPort(), "/metrics", both).body()
                        .lines()
                        .filter(line -> line
                                .startsWith("railhead_file_reloads_total{setting=\"" + setting
                                        + "\",outcome=\"" + outcome + "\""))
                        .anyMatch(line -> !line.endsWith(" 0.0"));
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }
}
