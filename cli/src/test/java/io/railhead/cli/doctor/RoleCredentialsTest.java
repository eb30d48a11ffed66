package io.railhead.cli.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.railhead.cli.doctor.Finding.Mark;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.identity.CredentialStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The credentials that sessions of a role have at the store, which the store may assume. */
class RoleCredentialsTest {
    private static final String GRANTED = """
            <AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
              <AssumeRoleResult><Credentials><AccessKeyId>ROLE</AccessKeyId>
                <SecretAccessKey>secret</SecretAccessKey><SessionToken>token</SessionToken>
                <Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult>
            </AssumeRoleResponse>""";
    private static final String REFUSED = """
            <ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error>
              <Type>Sender</Type><Code>AccessDenied</Code><Message>SITE may not assume it</Message>
            </Error><RequestId>1</RequestId></ErrorResponse>""";

    @TempDir
    private Path folder;

    private final SmallStore store = new SmallStore();
    private final HttpServer sts;
    private volatile String answer = GRANTED;

    RoleCredentialsTest() throws IOException {
        sts = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    }

    @BeforeEach
    void start() {
        sts.createContext("/", exchange -> {
            byte[] body = answer.getBytes(UTF_8);
            exchange.sendResponseHeaders(answer.equals(GRANTED) ? 200 : 403, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        sts.start();
    }

    @AfterEach
    void stop() {
        sts.stop(0);
        store.close();
    }

    private List<Finding> look() throws Exception {
        Files.writeString(folder.resolve("keys.json"), "{\"keys\": []}");
        Files.writeString(folder.resolve("credentials.yaml"),
                """
                        roles:
                          - name: pods
                            issuer: "https://ci.test"
                            claims: {sub: "*"}
                            backend_credential: {access_key: SITE, secret_key: S, role_arn: "arn:aws:iam::1:role/data",
                              sts_endpoint: "http://127.0.0.1:%d"}
                        """
                        .formatted(sts.getAddress().getPort()));
        GatewayConfig config = ConfigLoader
                .load(Files.writeString(folder.resolve("railhead.yaml"), """
                        gateway:
                          credentials: credentials.yaml
                          web_identity:
                            issuers:
                              - {issuer: "https://ci.test", audiences: [a], jwks_file: keys.json}
                        backends: {s: {endpoints: ["%s"], region: us-east-1}}
                        """.formatted(store.endpoint())));
        try (CredentialStore credentials = CredentialStore.open(config.gateway())) {
            return StoreChecks.parts(new Site(Host.local(), config, credentials, Map.of()))
                    .stream()
                    .flatMap(part -> part.look().get().stream())
                    .filter(finding -> finding.subject().equals("s/credential"))
                    .toList();
        }
    }

    @Test
    void aRoleThatCanBeAssumedIsKnownToTheStore() throws Exception {
        assertThat(look()).singleElement()
                .satisfies(finding -> assertThat(finding.mark()).isEqualTo(Mark.OK))
                .satisfies(finding -> assertThat(finding.found()).startsWith(
                        "the assumed role arn:aws:iam::1:role/data of role pods is known"));
    }

    @Test
    void aRoleThatCannotBeAssumedIsAFaultWithTheServicesWords() throws Exception {
        answer = REFUSED;
        assertThat(look()).singleElement()
                .satisfies(finding -> assertThat(finding.mark()).isEqualTo(Mark.FAIL))
                .satisfies(finding -> assertThat(finding.found()).contains("of role pods",
                        "cannot be had: ", "SITE may not assume it"));
    }
}
