package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.Serve;
import io.railhead.gateway.TestCertificates;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The front door over TLS. */
class TlsIT {
    private static final byte[] OBJECT = RandomBytes.random(9, 3_000_000);

    @TempDir
    static Path made;

    private static TestCertificates certificates;

    @TempDir
    Path folder;

    private FakeStore store;
    private @Nullable TestGateway gateway;

    @BeforeAll
    static void createCertificates() throws Exception {
        certificates = new TestCertificates(made).create("first", "RSA")
                .create("second", "EC")
                .create("client", "EC")
                .create("third", "RSA");
    }

    @BeforeEach
    void start() throws IOException {
        store = new FakeStore();
        store.put("/held/object", OBJECT);
        use("first", "first");
    }

    @AfterEach
    void stop() {
        if (gateway != null) {
            gateway.assertNoLease();
            gateway.close();
        }
        store.close();
    }

    /** Puts them where the gateway reads them, each whole at once. */
    private void use(String certificate, String key) throws IOException {
        replace("tls.key", certificates.key(key));
        replace("tls.pem", certificates.certificate(certificate));
    }

    private void replace(String name, Path by) throws IOException {
        Path next = Files.copy(by, folder.resolve(name + ".next"));
        Files.move(next, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }

    private TestGateway serve(String more) {
        TestGateway started = TestGateway.over(store.endpoint()).config("""
                rules:
                  - freshness: immutable
                gateway:
                  tls:
                    certificate: %s
                    key: %s
                """.formatted(folder.resolve("tls.pem"), folder.resolve("tls.key")) + more).start();
        gateway = started;
        return started;
    }

    private static URI https(TestGateway of) {
        return URI.create("https://127.0.0.1:" + of.endpoint().getPort());
    }

    private static TestClient client(TestGateway of, SSLContext context) {
        return new TestClient(https(of), "AK", "SK", context);
    }

    private static TestClient trusting(TestGateway of, String certificate) throws Exception {
        return client(of, certificates.context(List.of(certificate), null));
    }

    private static void assertRefused(TestClient client) {
        assertThatThrownBy(() -> client.get("/held/object")).hasCauseInstanceOf(IOException.class);
    }

    @Test
    void objectsAreReadAndWrittenAndNothingIsServedInCleartext() throws Exception {
        TestGateway serving = serve("");
        TestClient client = trusting(serving, "first");
        for (int round = 0; round < 2; round++) {
            assertThat(client.get("/held/object").body()).isEqualTo(OBJECT);
        }
        assertThat(client.put("/held/up", OBJECT).statusCode()).isEqualTo(200);
        assertThat(store.object("/held/up")).isEqualTo(OBJECT);
        assertRefused(trusting(serving, "second"));
        assertRefused(serving.client());
    }

    @Test
    void theStatusSaysWhenTheCertificateEnds() throws Exception {
        long until = serve("").status()
                .getJsonObject("gateway")
                .getLong("certificate_until_millis");
        // Certificates of keytool's are good for 90 days.
        assertThat(until - System.currentTimeMillis()).isBetween(TimeUnit.DAYS.toMillis(85),
                TimeUnit.DAYS.toMillis(95));
    }

    @Test
    void bothModernProtocolsAreSpoken() throws Exception {
        TestGateway serving = serve("");
        SSLContext context = certificates.context(List.of("first"), null);
        for (String protocol : List.of("TLSv1.3", "TLSv1.2")) {
            try (SSLSocket socket = socket(context, serving)) {
                socket.setEnabledProtocols(new String[]{protocol});
                socket.startHandshake();
                assertThat(socket.getSession().getProtocol()).isEqualTo(protocol);
            }
        }
    }

    private static SSLSocket socket(SSLContext context, TestGateway to) throws IOException {
        return (SSLSocket) context.getSocketFactory()
                .createSocket("127.0.0.1", to.endpoint().getPort());
    }

    @Test
    void anotherCertificateIsUsedSoonAndABadOneNever() throws Exception {
        TestGateway serving = serve("");
        TestClient kept = trusting(serving, "first");
        assertThat(kept.get("/held/object").statusCode()).isEqualTo(200);
        // As in the middle of a rotation: the key is there, its certificate is not.
        use("first", "second");
        awaitReload(serving, "refused", 1);
        assertThat(trusting(serving, "first").get("/held/object").statusCode()).isEqualTo(200);
        Files.writeString(folder.resolve("tls.pem"), "no certificate");
        awaitReload(serving, "refused", 2);
        assertThat(trusting(serving, "first").get("/held/object").statusCode()).isEqualTo(200);
        use("second", "second");
        awaitReload(serving, "used", 1);
        assertThat(trusting(serving, "second").get("/held/object").statusCode()).isEqualTo(200);
        assertRefused(trusting(serving, "first"));
        assertThat(kept.get("/held/object").statusCode()).as("on its old connection")
                .isEqualTo(200);
    }

    private static void awaitReload(TestGateway serving, String outcome, int times) {
        TestGateway
                .await(() -> serving.metric("railhead_file_reloads_total{setting=\"tls\",outcome=\""
                        + outcome + "\",}") >= times);
    }

    @Test
    void withAClientAuthorityOnlyItsClientsAreServed() throws Exception {
        TestGateway serving = serve("    client_ca: " + certificates.certificate("client") + "\n");
        assertThat(client(serving, certificates.context(List.of("first"), "client"))
                .get("/held/object")
                .body()).isEqualTo(OBJECT);
        assertRefused(client(serving, certificates.context(List.of("first"), null)));
        assertRefused(client(serving, certificates.context(List.of("first"), "second")));
        assertThat(store.count("GET /held/object")).isEqualTo(1);
    }

    @Test
    void aPeerThatSpeaksNoTlsDisturbsNobody() throws Exception {
        TestGateway serving = serve("");
        try (RawConnection raw = new RawConnection(serving.endpoint())) {
            raw.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
            assertThat(raw.isClosedByPeer()).isTrue();
        }
        assertThat(trusting(serving, "first").get("/held/object").statusCode()).isEqualTo(200);
    }

    @Test
    void whatCannotBeUsedIsRefusedAtTheStartAndByTheCheck() throws Exception {
        use("first", "third");
        assertThatThrownBy(() -> serve("")).hasMessageContaining("gateway.tls: the key is not");
        Files.writeString(folder.resolve("tls.pem"), "");
        assertThatThrownBy(() -> serve("")).hasMessageContaining("gateway.tls: ");
        use("first", "first");
        Files.writeString(folder.resolve("ca.pem"), "");
        assertThatThrownBy(() -> serve("    client_ca: " + folder.resolve("ca.pem") + "\n"))
                .hasMessageContaining("gateway.tls.client_ca: ");
        assertThat(check("certificate: tls.pem, key: tls.key")).isEmpty();
        use("third", "first");
        assertThat(check("certificate: tls.pem, key: tls.key")).contains("gateway.tls: the key is");
    }

    @Test
    void aStoresAuthorityThatCannotBeReadIsNamed() throws IOException {
        Files.writeString(folder.resolve("ca.pem"), "junk");
        use("first", "first");
        configure("certificate: tls.pem, key: tls.key", "[\"https://127.0.0.1:1\"], ca: ca.pem");
        assertThat(said(Serve::check)).contains("backends.a.ca cannot be read: ");
        assertThat(said(Serve::run)).contains("backends.a.ca cannot be read: ");
    }

    private String check(String tls) throws IOException {
        configure(tls, "[\"http://127.0.0.1:1\"]");
        return said(Serve::check);
    }

    private void configure(String tls, String store) throws IOException {
        Files.writeString(folder.resolve("credentials.yaml"),
                "principals: [{name: a, keys: [{access_key: A, secret_key: S}]}]\n");
        Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {credentials: credentials.yaml, tls: {%s}}
                cache: {memory: 64MiB}
                backends: {a: {endpoints: %s}}
                rdma: {loopback: {enabled: false}}
                """.formatted(tls, store));
    }

    private String said(BiFunction<Serve, Path, Integer> command) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Serve serve = new Serve(
                new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
        assertThat(command.apply(serve, folder.resolve("railhead.yaml"))).isBetween(0, 1);
        return err.toString(StandardCharsets.UTF_8);
    }
}
