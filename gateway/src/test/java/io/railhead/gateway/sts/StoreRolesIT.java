package io.railhead.gateway.sts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import io.railhead.backend.testing.MinioProcess;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Principals whose identity at the store is a role that the gateway assumes there. */
class StoreRolesIT {
    private static final byte[] OBJECT = "by a role".getBytes(UTF_8);

    @TempDir
    private Path folder;

    private static String principals(String backendCredential) {
        return """
                principals:
                  - name: trainer
                    keys: [{access_key: AK, secret_key: SK}]
                    backend_credential: {%s}
                """.formatted(backendCredential);
    }

    /** Answers with new credentials each time, which end before the SDK trusts them for long. */
    private static HttpServer sts(List<String> calls) throws IOException {
        HttpServer sts = HttpServer.create(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        sts.createContext("/", exchange -> {
            String call = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
            String authorization = exchange.getRequestHeaders().getFirst("Authorization");
            calls.add(call + " " + authorization);
            byte[] answer = """
                    <%1$sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
                      <%1$sResult><Credentials><AccessKeyId>ROLE%2$d</AccessKeyId>
                        <SecretAccessKey>secret</SecretAccessKey><SessionToken>of-the-role</SessionToken>
                        <Expiration>%3$s</Expiration></Credentials></%1$sResult>
                    </%1$sResponse>
                    """
                    .formatted(call.replaceAll(".*Action=(\\w+).*", "$1"), calls.size(),
                            Instant.now().plusSeconds(30))
                    .getBytes(UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        sts.start();
        return sts;
    }

    @Test
    void aRoleIsAssumedWithTheGatewaysKeyAndRenewedBeforeItEnds() throws IOException {
        List<String> calls = new CopyOnWriteArrayList<>();
        HttpServer sts = sts(calls);
        try (FakeStore store = new FakeStore();
                TestGateway gateway = TestGateway.over(store)
                        .config("rules: [{authorization: {remember: 0s}}]")
                        .principals(principals("""
                                role_arn: "arn:aws:iam::1:role/reader", external_id: rack-7,
                                sts_endpoint: "http://127.0.0.1:%d", access_key: SITE,
                                secret_key: site-secret""".formatted(sts.getAddress().getPort())))
                        .start()) {
            TestClient client = gateway.client();
            assertThat(client.put("/b/key", OBJECT).statusCode()).isEqualTo(200);
            assertThat(client.get("/b/key").body()).isEqualTo(OBJECT);
            assertThat(calls.getFirst()).contains("Action=AssumeRole", "ExternalId=rack-7",
                    "Credential=SITE/", "/sts/aws4_request");
            store.deny("ROLE1");
            TestGateway.await(() -> client.get("/b/key").statusCode() == 200);
            assertThat(calls).hasSizeGreaterThan(1);
            gateway.assertNoLease();
        } finally {
            sts.stop(0);
        }
    }

    /** The kubelet renews the file, so an exchange must not send what was read before. */
    @Test
    void aRoleIsAssumedWithATokenThatIsReadAnewEachTime() throws IOException {
        List<String> calls = new CopyOnWriteArrayList<>();
        HttpServer sts = sts(calls);
        Path token = Files.writeString(folder.resolve("token"), "first-token");
        try (FakeStore store = new FakeStore();
                TestGateway gateway = TestGateway.over(store)
                        .config("rules: [{authorization: {remember: 0s}}]")
                        .principals(principals("""
                                role_arn: "arn:aws:iam::1:role/reader", token_file: "%s",
                                sts_endpoint: "http://127.0.0.1:%d\"""".formatted(token,
                                sts.getAddress().getPort())))
                        .start()) {
            TestClient client = gateway.client();
            assertThat(client.put("/b/key", OBJECT).statusCode()).isEqualTo(200);
            assertThat(calls.getFirst())
                    .contains("Action=AssumeRoleWithWebIdentity", "WebIdentityToken=first-token")
                    .as("no key signs it")
                    .endsWith(" null");
            Files.writeString(token, "second-token");
            store.deny("ROLE1");
            TestGateway.await(() -> client.get("/b/key").statusCode() == 200
                    && calls.getLast().contains("WebIdentityToken=second-token"));
        } finally {
            sts.stop(0);
        }
    }

    /** Proxies are named by backends.NAME.proxy alone, which is for the store and not for STS. */
    @Test
    void noProxyThatPropertiesNameTakesPart() throws IOException {
        Properties before = (Properties) System.getProperties().clone();
        List<String> calls = new CopyOnWriteArrayList<>();
        HttpServer sts = sts(calls);
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            System.getProperties()
                    .putAll(Map.of("http.proxyHost", "127.0.0.1", "http.proxyPort",
                            String.valueOf(silent.getLocalPort()), "http.nonProxyHosts",
                            "127.0.0.1"));
            try (FakeStore store = new FakeStore();
                    TestGateway gateway = TestGateway.over(store)
                            .principals(principals("""
                                    role_arn: "arn:aws:iam::1:role/reader", access_key: SITE,
                                    secret_key: s, sts_endpoint: "http://localhost:%d\""""
                                    .formatted(sts.getAddress().getPort())))
                            .start()) {
                assertThat(gateway.client().put("/b/key", OBJECT).statusCode()).isEqualTo(200);
                assertThat(calls).isNotEmpty();
            }
        } finally {
            System.setProperties(before);
            sts.stop(0);
        }
    }

    @Test
    void whereTheServiceRefusesRequestsFailAndSayWhy() throws IOException {
        HttpServer sts = HttpServer.create(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        sts.createContext("/", exchange -> {
            exchange.sendResponseHeaders(403, -1);
            exchange.close();
        });
        sts.start();
        try (FakeStore store = new FakeStore();
                TestGateway gateway = TestGateway.over(store)
                        .principals(principals("""
                                role_arn: "arn:aws:iam::1:role/reader", access_key: SITE,
                                secret_key: s, sts_endpoint: "http://127.0.0.1:%d\""""
                                .formatted(sts.getAddress().getPort())))
                        .start()) {
            assertThat(gateway.client().get("/b/key").statusCode()).isEqualTo(503);
        } finally {
            sts.stop(0);
        }
    }

    private static String minio() {
        String program = System.getenv("MINIO_BIN");
        assumeTrue(program != null, "MINIO_BIN names no minio program");
        return String.valueOf(program);
    }

    private static void assertServed(TestClient client) {
        assertThat(client.put("/role-bucket", new byte[0]).statusCode()).isEqualTo(200);
        assertThat(client.put("/role-bucket/key", OBJECT).statusCode()).isEqualTo(200);
        assertThat(client.get("/role-bucket/key").body()).isEqualTo(OBJECT);
    }

    /** MinIO gives a role to its users, not to its root: one is made by its own service first. */
    @Test
    void minioGivesARoleToATokenOfItsIssuer() throws IOException {
        try (TestIssuer issuer = new TestIssuer();
                MinioProcess minio = new MinioProcess(Path.of(minio()),
                        Map.of("MINIO_IDENTITY_OPENID_CONFIG_URL",
                                issuer.name() + "/.well-known/openid-configuration",
                                "MINIO_IDENTITY_OPENID_CLIENT_ID", TestIssuer.AUDIENCE,
                                "MINIO_IDENTITY_OPENID_CLAIM_NAME", "policy"))) {
            Path token = Files.writeString(folder.resolve("token"), issuer.token("ml", "railhead",
                    claims -> claims.claim("policy", "readwrite")));
            try (TestGateway gateway = TestGateway.over(minio.endpoint())
                    .principals(principals("""
                            role_arn: "arn:aws:iam::000000000000:role/readwrite",
                            sts_endpoint: "%s", token_file: "%s\""""
                            .formatted(minio.endpoint(), token)))
                    .start()) {
                assertServed(gateway.client());
            }
        }
    }

    @Test
    void minioGivesARoleToAKey() {
        try (MinioProcess minio = new MinioProcess(Path.of(minio()));
                TestGateway gateway = TestGateway.over(minio.endpoint())
                        .principals(principals("""
                                role_arn: "arn:aws:iam::000000000000:role/any", sts_endpoint: "%s",
                                access_key: %s, secret_key: %s""".formatted(minio.endpoint(),
                                minio.credential().accessKey(), minio.credential().secretKey())))
                        .start()) {
            assertServed(gateway.client());
        }
    }
}
