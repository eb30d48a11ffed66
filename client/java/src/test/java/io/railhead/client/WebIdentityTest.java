package io.railhead.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.SdkHttpMethod;

/** A token is exchanged over TLS with the authority that the gateway's own certificate has. */
class WebIdentityTest {
    private static final String PASSWORD = "changeit";
    private static final String ANSWER = """
            <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
              <AssumeRoleWithWebIdentityResult><Credentials>
                <AccessKeyId>AKID</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>
                <SessionToken>sealed</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration>
              </Credentials></AssumeRoleWithWebIdentityResult>
            </AssumeRoleWithWebIdentityResponse>
            """;

    @TempDir
    private Path folder;

    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final HttpsServer server;
    private volatile int status = 200;
    private volatile String answer = ANSWER;

    WebIdentityTest() throws IOException {
        server = HttpsServer
                .create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    }

    @BeforeEach
    void start() throws IOException, GeneralSecurityException, InterruptedException {
        keytool("-genkeypair", "-alias", "sts", "-keyalg", "EC", "-dname", "CN=sts", "-ext",
                "san=ip:127.0.0.1");
        keytool("-exportcert", "-alias", "sts", "-rfc", "-file", folder + "/ca.pem");
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(folder.resolve("store.p12"))) {
            store.load(in, PASSWORD.toCharArray());
        }
        KeyManagerFactory keys = KeyManagerFactory
                .getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        server.createContext("/", exchange -> {
            calls.add(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
            exchange.getResponseHeaders().set("Content-Type", "text/xml");
            exchange.sendResponseHeaders(status, answer.length());
            exchange.getResponseBody().write(answer.getBytes(UTF_8));
            exchange.close();
        });
        server.start();
        Files.writeString(folder.resolve("token"), "first");
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void keytool(String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of(System.getProperty("java.home") + "/bin/keytool"));
        command.addAll(List.of(words));
        command.addAll(List.of("-keystore", folder + "/store.p12", "-storepass", PASSWORD));
        assertThat(new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("keytool.log").toFile())
                .start()
                .waitFor()).isZero();
    }

    private ClientConfig config(Map<String, String> more) {
        Map<String, String> environment = new HashMap<>(Map.of("AWS_ENDPOINT_URL",
                "https://127.0.0.1:" + server.getAddress().getPort(), "AWS_CA_BUNDLE",
                folder + "/ca.pem", "AWS_ROLE_ARN", "arn:aws:iam::000000000000:role/pods",
                "AWS_WEB_IDENTITY_TOKEN_FILE", folder + "/token"));
        environment.putAll(more);
        return new AwsSettings(environment).resolve(null, null, "us-east-1");
    }

    @Test
    void theTokenIsReadAnewForEachExchange() throws IOException {
        RenewedCredentials credentials = (RenewedCredentials) config(Map.of()).credentials();
        assertThat(credentials.resolveCredentials())
                .isInstanceOfSatisfying(AwsSessionCredentials.class,
                        session -> assertThat(session.sessionToken()).isEqualTo("sealed"));
        credentials.resolveCredentials();
        Files.writeString(folder.resolve("token"), "second");
        credentials.beginAgain(credentials.source());
        credentials.resolveCredentials();
        assertThat(calls).satisfiesExactly(
                call -> assertThat(call).contains("Action=AssumeRoleWithWebIdentity",
                        "WebIdentityToken=first", "role%2Fpods"),
                call -> assertThat(call).contains("WebIdentityToken=second"));
    }

    @Test
    void aServiceOfItsOwnIsAsked() {
        ClientConfig config = config(
                Map.of("AWS_ENDPOINT_URL_STS", "https://127.0.0.1:1", "AWS_ROLE_SESSION_NAME",
                        "me"));
        assertThatThrownBy(() -> config.credentials().resolveCredentials())
                .isInstanceOf(SdkException.class);
        assertThat(calls).isEmpty();
    }

    private void failsSaying(Map<String, String> more, String... words) {
        try (S3Http http = new S3Http(config(more))) {
            assertThatThrownBy(
                    () -> http.sign(Call.to(SdkHttpMethod.GET, new ObjectName("b", "k"))))
                    .isInstanceOf(IOException.class)
                    .message()
                    .startsWith("no credentials: ")
                    .contains(words);
        }
    }

    @Test
    void aRefusalIsToldWithItsCodeItsTextAndWhatToDo() {
        status = 403;
        answer = """
                <ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error>
                <Type>Sender</Type><Code>AccessDenied</Code>
                <Message>the token's claim groups does not satisfy the role pods</Message>
                </Error><RequestId>1</RequestId></ErrorResponse>""";
        failsSaying(Map.of(), "AccessDenied", "claim groups does not satisfy", "AWS_ROLE_ARN");
        status = 400;
        answer = answer.replace("AccessDenied", "ExpiredTokenException");
        failsSaying(Map.of(), "ExpiredTokenException", "AWS_WEB_IDENTITY_TOKEN_FILE");
        status = 404;
        answer = "not here";
        failsSaying(Map.of(), "the token service answered 404", "AWS_ENDPOINT_URL_STS");
    }

    @Test
    void aServiceThatDoesNotAnswerAndAMissingTokenAreTold() {
        failsSaying(Map.of("AWS_ENDPOINT_URL_STS", "https://127.0.0.1:1"), "refused",
                "AWS_ENDPOINT_URL_STS");
        failsSaying(Map.of("AWS_WEB_IDENTITY_TOKEN_FILE", folder + "/none"),
                "there is no token file " + folder + "/none");
    }

    /** As for every other request of the client, also without an authority of one's own. */
    @Test
    void aTokenIsExchangedWithoutAProxy() throws IOException {
        HttpServer plain = HttpServer
                .create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        plain.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, ANSWER.length());
            exchange.getResponseBody().write(ANSWER.getBytes(UTF_8));
            exchange.close();
        });
        plain.start();
        Properties before = (Properties) System.getProperties().clone();
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            System.getProperties()
                    .putAll(Map.of("http.proxyHost", "127.0.0.1", "http.proxyPort",
                            String.valueOf(silent.getLocalPort()), "http.nonProxyHosts", ""));
            assertThat(config(Map.of("AWS_CA_BUNDLE", "", "AWS_ENDPOINT_URL_STS",
                    "http://127.0.0.1:" + plain.getAddress().getPort())).credentials()
                    .resolveCredentials()
                    .accessKeyId()).isEqualTo("AKID");
        } finally {
            System.setProperties(before);
            plain.stop(0);
        }
    }
}
