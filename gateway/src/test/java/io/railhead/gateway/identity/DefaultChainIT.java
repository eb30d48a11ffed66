package io.railhead.gateway.identity;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A backend credential that the SDK's default provider chain gives. */
class DefaultChainIT {
    private static final byte[] OBJECT = "in the chain's name".getBytes(StandardCharsets.UTF_8);
    /** {@code AssumeRoleWithWebIdentity} of the STS API reference. */
    private static final String ASSUMED = """
            <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
              <AssumeRoleWithWebIdentityResult><Credentials>
                <AccessKeyId>ASSUMED</AccessKeyId><SecretAccessKey>assumed-secret</SecretAccessKey>
                <SessionToken>of-the-role</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>
              </Credentials></AssumeRoleWithWebIdentityResult>
            </AssumeRoleWithWebIdentityResponse>
            """;

    private final List<String> properties = new ArrayList<>();

    @AfterEach
    void stop() {
        properties.forEach(System::clearProperty);
    }

    @Test
    void readsWritesAndHitsAreInItsName() {
        set("aws.accessKeyId", "CHAIN");
        set("aws.secretAccessKey", "chain-secret");
        assertServedInTheNameOf("CHAIN");
    }

    /** As a pod with an IAM role for its service account (IRSA) has it. */
    @Test
    void aWebIdentityTokenIsExchangedForARole(@TempDir Path folder) throws IOException {
        Path token = Files.writeString(folder.resolve("token"), "identity-of-the-pod");
        List<String> asked = new CopyOnWriteArrayList<>();
        HttpServer sts = HttpServer.create(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        sts.createContext("/", exchange -> {
            asked.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            byte[] answer = ASSUMED.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        sts.start();
        try {
            set("aws.endpointUrlSts", "http://127.0.0.1:" + sts.getAddress().getPort());
            set("aws.region", "us-east-1");
            set("aws.roleArn", "arn:aws:iam::123456789012:role/railhead");
            set("aws.webIdentityTokenFile", token.toString());
            assertServedInTheNameOf("ASSUMED");
        } finally {
            sts.stop(0);
        }
        assertThat(asked).singleElement()
                .asString()
                .contains("Action=AssumeRoleWithWebIdentity", "identity-of-the-pod");
    }

    private void set(String property, String value) {
        properties.add(property);
        System.setProperty(property, value);
    }

    /** The chain looks at its settings when the gateway starts. */
    private static void assertServedInTheNameOf(String accessKey) {
        try (FakeStore store = new FakeStore();
                TestGateway gateway = TestGateway.over(store).principals("""
                        principals:
                          - name: trainer
                            keys: [{access_key: AK, secret_key: SK}]
                            backend_credential: {provider: default}
                        """).start()) {
            TestClient client = gateway.client();
            assertThat(client.put("/b/key", OBJECT).statusCode()).isEqualTo(200);
            for (int round = 0; round < 2; round++) {
                assertThat(client.get("/b/key").body()).isEqualTo(OBJECT);
            }
            store.deny(accessKey);
            assertThat(client.get("/b/key").statusCode()).isEqualTo(403);
            gateway.assertNoLease();
        }
    }
}
