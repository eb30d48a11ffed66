package io.railhead.gateway.sts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.RoleSession;
import io.railhead.protocol.channel.Request;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tokens become credentials, and those serve until they expire or are revoked. */
class StsIT {
    private static final String KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    private static final String OTHER_KEY = "HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    private static final String BACKEND = "backend_credential: {access_key: SITE, secret_key: SS}";

    private final TestIssuer issuer = new TestIssuer();
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store)
            .owning(issuer)
            .file("session.keys", KEY + "\n")
            .file("policy.json", """
                    {"Version": "2012-10-17", "Statement": [
                      {"Effect": "Allow", "Principal": "role/pods", "Action": "s3:*",
                       "Resource": ["arn:aws:s3:::${tenant}/*",
                         "arn:aws:s3:::shared/${claim:kubernetes.io/serviceaccount/name}/*"]},
                      {"Effect": "Allow", "Principal": ["trainer", "fixed"], "Action": "s3:*",
                       "Resource": "*"}]}
                    """)
            .config(config(issuer))
            .principals(TestGateway.TRAINER + roles(issuer, ""));
    private final HttpClient http = HttpClient.newHttpClient();

    private static String config(TestIssuer issuer) {
        return """
                gateway:
                  policy: policy.json
                  web_identity:
                    session_keys: session.keys
                    issuers:
                      - issuer: "%s"
                        audiences: [sts.amazonaws.com, railhead]
                rules: [{freshness: {bounded: 60s}}]
                """.formatted(issuer.name());
    }

    private static String roles(TestIssuer issuer, String more) {
        return """
                roles:
                  - name: pods
                    issuer: "%1$s"
                    claims:
                      kubernetes.io/namespace: ["ml-*", web]
                      kubernetes.io/serviceaccount/name: "*"
                      groups: gpu-*
                    principal: "${kubernetes.io/namespace}.${kubernetes.io/serviceaccount/name}"
                    tenant: "${kubernetes.io/namespace}"
                    %2$s
                  - name: fixed
                    issuer: "%1$s"
                    claims: {sub: "system:serviceaccount:ops:*"}
                    max_session: 30m
                    %2$s
                %3$s
                """.formatted(issuer.name(), BACKEND, more);
    }

    @BeforeEach
    void fill() {
        store.put("/ml-a/object", "hello".getBytes(UTF_8));
        store.put("/ml-b/object", "hello".getBytes(UTF_8));
        store.put("/shared/train/object", "hello".getBytes(UTF_8));
    }

    @AfterEach
    void close() {
        http.close();
    }

    private record Answer(int status, String body) {

        String element(String name) {
            Matcher matcher = Pattern.compile("<" + name + ">([^<]*)</" + name + ">")
                    .matcher(body);
            return matcher.find() ? matcher.group(1) : "";
        }

        String code() {
            return element("Code");
        }
    }

    private static String form(Map<String, String> fields) {
        return fields.entrySet()
                .stream()
                .map(field -> field.getKey() + "=" + URLEncoder.encode(field.getValue(), UTF_8))
                .collect(Collectors.joining("&"));
    }

    private Answer call(Map<String, String> fields) {
        String form = form(fields);
        try {
            HttpResponse<String> response = http.send(
                    HttpRequest.newBuilder(gateway.endpoint().resolve("/"))
                            .header("content-type",
                                    "application/x-www-form-urlencoded; charset=utf-8")
                            .POST(BodyPublishers.ofString(form))
                            .build(),
                    BodyHandlers.ofString());
            return new Answer(response.statusCode(), response.body());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static Map<String, String> fields(String role, String token, String... more) {
        Map<String, String> fields = new LinkedHashMap<>(Map.of("Action",
                "AssumeRoleWithWebIdentity", "Version", "2011-06-15", "RoleArn",
                "arn:aws:iam::123456789012:role/" + role, "RoleSessionName", "pod-1",
                "WebIdentityToken", token));
        for (int i = 0; i < more.length; i += 2) {
            fields.put(more[i], more[i + 1]);
        }
        return fields;
    }

    private Answer assume(String role, String token, String... more) {
        return call(fields(role, token, more));
    }

    private TestClient client(Answer credentials) {
        assertThat(credentials.status()).as(credentials.body()).isEqualTo(200);
        return gateway.client()
                .as(credentials.element("AccessKeyId"), credentials.element("SecretAccessKey"),
                        credentials.element("SessionToken"));
    }

    private void refused(Answer answer, String code) {
        assertThat(answer.code()).as(answer.body()).isEqualTo(code);
        assertThat(answer.status()).isBetween(400, 403);
        assertThat(answer.body()).doesNotContain("SecretAccessKey");
    }

    private static String code(HttpResponse<byte[]> response) {
        return new Answer(response.statusCode(), new String(response.body(), UTF_8)).code();
    }

    private String pod() {
        return issuer.token("ml-a", "train");
    }

    @Test
    void aPodReadsWithItsTokenAlone() {
        Answer answer = assume("pods", pod());
        TestClient pod = client(answer);
        assertThat(answer.element("Arn"))
                .isEqualTo("arn:aws:sts::123456789012:assumed-role/pods/pod-1");
        assertThat(answer.element("SubjectFromWebIdentityToken"))
                .isEqualTo("system:serviceaccount:ml-a:train");
        assertThat(Duration.between(Instant.now(), Instant.parse(answer.element("Expiration"))))
                .isBetween(Duration.ofMinutes(59), Duration.ofMinutes(60));
        assertThat(pod.get("/ml-a/object").statusCode()).isEqualTo(200);
        HttpResponse<byte[]> hit = pod.get("/ml-a/object");
        assertThat(hit.body()).isEqualTo("hello".getBytes(UTF_8));
        assertThat(TestClient.cached(hit)).isEqualTo("HIT");
        assertThat(pod.put("/ml-a/new", new byte[3]).statusCode()).isEqualTo(200);
        assertThat(http(pod.presigned("GET", "/ml-a/object", Duration.ofMinutes(1))))
                .isEqualTo(200);
        assertThat(gateway.metric("railhead_sts_calls_total{outcome=\"granted\",}")).isOne();
    }

    private int http(URI url) {
        return http.sendAsync(HttpRequest.newBuilder(url).build(), BodyHandlers.discarding())
                .join()
                .statusCode();
    }

    @Test
    void policiesKnowTenantRoleAndClaims() {
        TestClient pod = client(assume("pods", pod()));
        assertThat(pod.get("/shared/train/object").statusCode()).isEqualTo(200);
        assertThat(code(pod.get("/ml-b/object"))).isEqualTo("AccessDenied");
        assertThat(code(pod.get("/shared/other/object"))).isEqualTo("AccessDenied");
    }

    @Test
    void aSessionPolicyNarrowsAndNeverWidens() {
        String onlyOne = """
                {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "s3:GetObject",
                 "Resource": ["arn:aws:s3:::ml-a/object", "arn:aws:s3:::ml-b/*"]}}""";
        TestClient pod = client(assume("pods", pod(), "Policy", onlyOne));
        assertThat(pod.get("/ml-a/object").statusCode()).isEqualTo(200);
        assertThat(code(pod.get("/ml-a/another"))).isEqualTo("AccessDenied");
        assertThat(code(pod.put("/ml-a/object", new byte[1]))).isEqualTo("AccessDenied");
        assertThat(code(pod.get("/ml-b/object"))).isEqualTo("AccessDenied");
    }

    @Test
    void exchangesAreAuditedWithoutTheirSecrets() {
        gateway.restart(config(issuer) + "audit: {file: audit.jsonl}\n");
        String token = pod();
        Answer granted = assume("pods", token);
        client(granted).get("/ml-a/object");
        refused(assume("pods", token.replace('.', '_'), "RoleSessionName", "CaNaRy"),
                "InvalidIdentityToken");
        refused(assume("pods", issuer.token("finance", "thief")), "AccessDenied");
        String stream = gateway.stopAndRead("audit.jsonl");
        assertThat(stream).contains("identity_exchanged", "pods/ml-a.train",
                "system:serviceaccount:ml-a:train", granted.element("AccessKeyId"),
                "identity_refused", "InvalidIdentityToken",
                "system:serviceaccount:finance:thief")
                .doesNotContain(token, granted.element("SecretAccessKey"),
                        granted.element("SessionToken"), "CaNaRy")
                .as("one event for each call")
                .doesNotContain("access_denied", "login_refused");
    }

    /** A role that is new, or has more rights, must not pass unseen. */
    @Test
    void changedAndNewRolesAreAudited() throws IOException {
        gateway.restart(config(issuer) + "audit: {file: audit.jsonl}\n");
        String roles = roles(issuer, "");
        rewrite(roles.replace("max_session: 30m", "admin: true")
                + roles.substring(roles.indexOf("  - name: fixed")).replace("fixed", "more"));
        rewrite(roles.replace("name: pods", "name: others"));
        assertThat(gateway.stopAndRead("audit.jsonl")
                .lines()
                .filter(line -> line.contains("key_changed"))
                .map(line -> line.replaceAll(
                        ".*\"activity_id\":(\\d+).*\"type\":\"role\",\"name\":\"([^\"]*)\".*",
                        "$1 $2")))
                .containsExactlyInAnyOrder("99 role/fixed", "1 role/more", "99 role/fixed",
                        "6 role/more", "6 role/pods", "1 role/others");
    }

    /** One id leads from a token's exchange to everything that was done with its session. */
    @Test
    void aSessionHasOneIdInAuditAndAccessLog() {
        gateway.restart(config(issuer) + "audit: {file: audit.jsonl}\n"
                + "log: {access: {file: access.log}}\n");
        Answer granted = assume("pods", pod());
        Answer other = assume("pods", pod());
        String id = granted.element("AccessKeyId");
        TestPeer peer = gateway.closing(new TestPeer(client(granted),
                granted.element("SecretAccessKey"), 1 << 20));
        for (int i = 0; i < 3; i++) {
            assertThat(client(granted).get("/ml-a/object").statusCode()).isEqualTo(200);
        }
        assertThat(ask(peer, "ml-a", "object").status()).isEqualTo(200);
        assertThat(client(granted).get("/ml-b/object").statusCode()).isEqualTo(403);
        assertThat(ask(peer, "ml-b", "object").status()).isEqualTo(403);
        assertThat(pins(client(granted))).isEqualTo(403);
        client(other).get("/ml-a/object");
        gateway.client().get("/ml-a/object");
        Path audit = gateway.directory().resolve("audit.jsonl");
        TestGateway.await(
                () -> lines(audit).stream().anyMatch(line -> line.contains("admin_refused")));
        assertThat(lines(audit).stream()
                .filter(line -> line.contains("\"credential_uid\":\"" + id + "\""))
                .map(StsIT::eventCode))
                .containsExactlyInAnyOrder("identity_exchanged", "rdma_opened", "access_denied",
                        "access_denied", "admin_refused");
        String log = gateway.stopAndRead("access.log");
        assertThat(log.lines().filter(line -> line.contains(" role_session=" + id + " ")))
                .hasSize(6)
                .allMatch(line -> line.contains("pods/ml-a.train"));
        assertThat(log.lines().filter(line -> line.contains(" trainer ")))
                .hasSize(1)
                .noneMatch(line -> line.contains("role_session="));
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String eventCode(String line) {
        return line.replaceAll(".*\"event_code\":\"([a-z_]*)\".*", "$1");
    }

    /** A refusal names whose session it was, where the gateway can still open it. */
    @Test
    void aRefusedSessionIsNamedOrSaidNotToOpen() throws IOException {
        gateway.restart(config(issuer) + "audit: {file: audit.jsonl}\n");
        AccessKey over = sealed(Instant.now().minusSeconds(1));
        gateway.client()
                .as(over.id(), over.secret().reveal(), RoleExchange.revealed(over))
                .get("/ml-a/object");
        Answer granted = assume("pods", pod());
        http(client(granted).as(granted.element("AccessKeyId"), "wrong",
                granted.element("SessionToken"))
                .presigned("GET", "/ml-a/object", Duration.ofMinutes(1)));
        rewrite(roles(issuer, "revoked: [{role: pods}]"));
        client(granted).get("/ml-a/object");
        pins(client(granted));
        rewrite(roles(issuer, "").replace("name: pods", "name: others"));
        client(granted).get("/ml-a/object");
        gateway.client()
                .as(granted.element("AccessKeyId"), granted.element("SecretAccessKey"), "made-up")
                .get("/ml-a/object");
        assertThat(gateway.stopAndRead("audit.jsonl")
                .lines()
                .filter(line -> line.contains("login_refused"))
                .map(line -> line.replaceAll(".*\"status_code\":\"(\\w*)\".*", "$1") + " "
                        + (line.contains("session not opened")
                                ? "not opened"
                                : line.replaceAll(".*\"user\":\\{\"name\":\"([^\"]*)\".*", "$1"))
                        + " " + line.contains("credential_uid")))
                .containsExactly("ExpiredToken fixed true",
                        "SignatureDoesNotMatch pods/ml-a.train true",
                        "InvalidToken pods/ml-a.train true", "InvalidToken pods/ml-a.train true",
                        "InvalidToken role/pods true", "InvalidToken not opened false");
    }

    @Test
    void whoSignsIsToldWhoItIs() {
        TestClient pod = client(assume("pods", pod()));
        assertThat(identity(pod).element("Arn"))
                .isEqualTo("arn:aws:sts::000000000000:assumed-role/pods/pod-1");
        assertThat(identity(gateway.client()).element("Arn"))
                .isEqualTo("arn:aws:iam::000000000000:user/trainer");
        refused(call(Map.of("Action", "GetCallerIdentity", "Version", "2011-06-15")),
                "MissingAuthenticationToken");
        refused(identity(gateway.client("AK", "wrong")), "SignatureDoesNotMatch");
    }

    private Answer identity(TestClient client) {
        HttpResponse<byte[]> response = client.send(client.signedForSts("/",
                "Action=GetCallerIdentity&Version=2011-06-15".getBytes(UTF_8)));
        return new Answer(response.statusCode(), new String(response.body(), UTF_8));
    }

    /** A gateway that holds the same key, and one that was started anew, are the same here. */
    @Test
    void sessionsOutliveARestartUnderTheSameKeyOnly() throws IOException {
        Answer credentials = assume("pods", pod());
        Answer second = assume("pods", pod());
        gateway.restart(config(issuer));
        assertThat(client(credentials).get("/ml-a/object").statusCode()).isEqualTo(200);
        Files.writeString(gateway.directory().resolve("session.keys"),
                OTHER_KEY + "\n" + KEY + "\n");
        gateway.credentials().reload();
        assertThat(client(credentials).get("/ml-a/object").statusCode()).isEqualTo(200);
        assertThat(client(second).get("/ml-a/object").statusCode()).isEqualTo(200);
        Answer renewed = assume("pods", pod());
        Files.writeString(gateway.directory().resolve("session.keys"), OTHER_KEY + "\n");
        gateway.credentials().reload();
        assertThat(code(client(credentials).get("/ml-a/object"))).isEqualTo("InvalidToken");
        assertThat(client(renewed).get("/ml-a/object").statusCode()).isEqualTo(200);
    }

    @Test
    void aSessionThatIsRenewedKeepsItsGrantsAndItsCache() {
        assertThat(client(assume("fixed", ops())).get("/ml-a/object").statusCode())
                .isEqualTo(200);
        int asked = store.requests().size();
        HttpResponse<byte[]> hit = client(assume("fixed", ops())).get("/ml-a/object");
        assertThat(TestClient.cached(hit)).isEqualTo("HIT");
        assertThat(store.requests()).hasSize(asked);
    }

    private String ops() {
        return issuer.token("ops", "admin");
    }

    @Test
    void aSessionEndsWhenItsTimeIsOver() {
        TestClient pod = client(assume("pods", pod(), "DurationSeconds", "900"));
        assertThat(pod.get("/ml-a/object").statusCode()).isEqualTo(200);
        refused(assume("pods", pod(), "DurationSeconds", "899"), "ValidationError");
        refused(assume("pods", pod(), "DurationSeconds", "3601"), "ValidationError");
        assertThat(Instant.parse(assume("fixed", ops()).element("Expiration")))
                .isBefore(Instant.now().plus(Duration.ofMinutes(31)));
    }

    @Test
    void aRuleRevokesSessions() throws IOException {
        Answer credentials = assume("pods", pod());
        Answer other = assume("pods", issuer.token("ml-b", "train"));
        assertThat(client(credentials).get("/ml-a/object").statusCode()).isEqualTo(200);
        rewrite(roles(issuer, """
                revoked:
                  - {role: pods, principal: "pods/ml-a.*"}
                """));
        assertThat(code(client(credentials).get("/ml-a/object"))).isEqualTo("InvalidToken");
        assertThat(client(other).get("/ml-b/object").statusCode()).isEqualTo(200);
        refused(assume("pods", pod()), "AccessDenied");
        rewrite(roles(issuer, """
                revoked:
                  - {issued_before: "2026-01-01T00:00:00Z"}
                """));
        assertThat(client(credentials).get("/ml-a/object").statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {"role: p*", "principal: '*.train'",
            "subject: 'system:serviceaccount:ml-a:*'", "session: pod-*",
            "issued_before: '2100-01-01T00:00:00Z'",
            "role: pods, principal: '*', subject: '*', session: '*', issued_before: '2100-01-01T00:00:00Z'"})
    void eachPatternOfARuleRevokes(String patterns) throws IOException {
        Answer credentials = assume("pods", pod());
        rewrite(roles(issuer, "revoked: [{" + patterns + "}]"));
        assertThat(code(client(credentials).get("/ml-a/object"))).isEqualTo("InvalidToken");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {"role: fixed",
            "role: p*, principal: '*.other'", "role: p*, subject: 'system:serviceaccount:ml-b:*'",
            "role: p*, session: other", "role: p*, issued_before: '2026-01-01T00:00:00Z'"})
    void aRuleOfWhichOnePatternDoesNotMatchRevokesNothing(String patterns) throws IOException {
        Answer credentials = assume("pods", pod());
        rewrite(roles(issuer, "revoked: [{" + patterns + "}]"));
        assertThat(client(credentials).get("/ml-a/object").statusCode()).isEqualTo(200);
    }

    private void rewrite(String roles) throws IOException {
        Files.writeString(gateway.directory().resolve("credentials.yaml"),
                TestGateway.TRAINER + roles);
        gateway.credentials().reload();
    }

    /** As every gateway with the key could have sealed it. */
    private AccessKey sealed(Instant expiresAt) {
        return gateway.credentials()
                .seal(new RoleSession("fixed", RoleSession.hash(issuer.name()), "old",
                        "system:serviceaccount:ops:x", expiresAt.minusSeconds(900), expiresAt,
                        Map.of("sub", "system:serviceaccount:ops:x"), null));
    }

    @Test
    void anExpiredSessionServesNowhere() {
        AccessKey over = sealed(Instant.now().minusSeconds(1));
        TestClient old = client(over);
        assertThat(code(old.get("/ml-a/object"))).isEqualTo("ExpiredToken");
        assertThat(code(old.put("/ml-a/object", new byte[1]))).isEqualTo("ExpiredToken");
        assertThat(code(old.send("POST", "/.railhead/sessions?fabric=loopback", new byte[0])))
                .isEqualTo("ExpiredToken");
        assertThat(identity(old).code()).isEqualTo("ExpiredToken");
        assertThat(gateway.credentials().findAgain(over)).isNull();
        assertThat(gateway.credentials().findAgain(sealed(Instant.now().plusSeconds(60))))
                .isNotNull();
    }

    /** The session's own policy holds there too, and a revocation ends it at its next request. */
    @Test
    void aNativeSessionLastsAsLongAsItsCredentials() throws Exception {
        Answer credentials = assume("pods", pod(), "Policy", """
                {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "s3:GetObject",
                 "Resource": "arn:aws:s3:::ml-a/object"}}""");
        TestPeer peer = gateway.closing(new TestPeer(client(credentials),
                credentials.element("SecretAccessKey"), 1 << 20));
        for (int i = 0; i < 2; i++) {
            assertThat(ask(peer, "ml-a", "object").status()).isEqualTo(200);
        }
        assertThat(ask(peer, "ml-a", "another").code()).isEqualTo("AccessDenied");
        assertThat(ask(peer, "ml-b", "object").code()).isEqualTo("AccessDenied");
        rewrite(roles(issuer, "revoked: [{role: pods}]"));
        assertThat(isServed(peer)).isFalse();
    }

    /** Newer credentials take the place of those that opened the session, once these are over. */
    @Test
    void aNativeSessionIsRenewedByNewerCredentialsOfItsPrincipal() {
        AccessKey[] older = new AccessKey[1];
        TestPeer peer = gateway.closing(openedInTime(older));
        String before = ask(peer, "ml-a", "object").code();
        AccessKey newer = sealed(Instant.now().plusSeconds(600));
        assertThat(renew(client(newer), peer.sessionId()).statusCode()).isEqualTo(200);
        TestGateway.await(() -> gateway.credentials().findAgain(older[0]) == null);
        assertThat(ask(peer, "ml-a", "object").code()).isEqualTo(before);
    }

    @Test
    void aNativeSessionThatNobodyRenewedEndsWithItsCredentials() {
        AccessKey[] older = new AccessKey[1];
        TestPeer peer = gateway.closing(openedInTime(older));
        TestGateway.await(() -> gateway.credentials().findAgain(older[0]) == null);
        assertThat(isServed(peer)).isFalse();
    }

    /** Opens a session with credentials that end soon; on a slow machine, less soon. */
    private TestPeer openedInTime(AccessKey[] opener) {
        for (int seconds = 2; seconds < 100; seconds *= 2) {
            opener[0] = sealed(Instant.now().plusSeconds(seconds));
            try {
                return new TestPeer(client(opener[0]), opener[0].secret().reveal(), 1 << 20);
            } catch (IllegalStateException e) {
                assertThat(e).hasMessageContaining("ExpiredToken");
            }
        }
        throw new AssertionError("no session was opened in time");
    }

    private TestClient client(AccessKey key) {
        return gateway.client().as(key.id(), key.secret().reveal(), RoleExchange.revealed(key));
    }

    private HttpResponse<byte[]> renew(TestClient client, String session) {
        return client.send("POST", "/.railhead/sessions?renew=" + session,
                new byte[0]);
    }

    @Test
    void whoRenewsASessionIsItsPrincipal() {
        Answer own = assume("pods", pod());
        TestPeer peer = gateway.closing(new TestPeer(client(own),
                own.element("SecretAccessKey"), 1 << 20));
        Answer others = assume("pods", issuer.token("ml-b", "train"));
        assertThat(code(renew(client(others), peer.sessionId()))).isEqualTo("RDMAForeignSession");
        assertThat(code(renew(client(own), "0".repeat(32)))).isEqualTo("RDMAUnknownSession");
        assertThat(code(client(own).get("/.railhead/sessions?renew=" + peer.sessionId())))
                .isEqualTo("MethodNotAllowed");
        assertThat(ask(peer, "ml-a", "object").status()).isEqualTo(200);
    }

    /** The session's end may overtake the request, or be its answer. */
    private static boolean isServed(TestPeer peer) {
        try {
            return ask(peer, "ml-a", "object").status() == 200;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    private static io.railhead.protocol.channel.Answer ask(TestPeer peer, String bucket,
            String key) {
        return peer.ask(Request.get(0, bucket, key, peer.key(), 0, 1 << 20));
    }

    @Test
    void aRoleThatIsNarrowedEndsSessionsThatItWouldNotGive() throws IOException {
        Answer credentials = assume("pods", pod());
        rewrite(roles(issuer, "").replace("[\"ml-*\", web]", "web"));
        assertThat(code(client(credentials).get("/ml-a/object"))).isEqualTo("InvalidToken");
        rewrite(roles(issuer, "").replace("name: pods", "name: others"));
        assertThat(code(client(credentials).get("/ml-a/object"))).isEqualTo("InvalidToken");
    }

    @Test
    void aSecretOrATokenOfAnotherSessionDoesNotFit() {
        Answer one = assume("pods", pod());
        Answer other = assume("pods", issuer.token("ml-b", "train"));
        TestClient mixed = gateway.client()
                .as(one.element("AccessKeyId"), one.element("SecretAccessKey"),
                        other.element("SessionToken"));
        assertThat(code(mixed.get("/ml-a/object"))).isEqualTo("InvalidToken");
        TestClient wrongSecret = gateway.client()
                .as(one.element("AccessKeyId"), other.element("SecretAccessKey"),
                        one.element("SessionToken"));
        assertThat(code(wrongSecret.get("/ml-a/object"))).isEqualTo("SignatureDoesNotMatch");
        assertThat(code(gateway.client(one.element("AccessKeyId"), one.element("SecretAccessKey"))
                .get("/ml-a/object"))).isEqualTo("InvalidToken");
        String token = one.element("SessionToken");
        for (int at : List.of(0, 3, 10, token.length() / 2, token.length() - 1)) {
            char changed = token.charAt(at) == 'A' ? 'B' : 'A';
            TestClient forged = gateway.client()
                    .as(one.element("AccessKeyId"), one.element("SecretAccessKey"),
                            token.substring(0, at) + changed + token.substring(at + 1));
            assertThat(code(forged.get("/ml-a/object"))).as("at %s", at)
                    .isEqualTo("InvalidToken");
        }
    }

    private void refusedToken(String token, String code) {
        refused(assume("pods", token), code);
    }

    private void refusedClaims(UnaryOperator<JWTClaimsSet.Builder> change, String code) {
        refusedToken(issuer.token("ml-a", "train", change), code);
    }

    @Test
    void attackNoSignature() {
        JWTClaimsSet claims = issuer.claims("ml-a", "train").build();
        refusedToken(new PlainJWT(claims).serialize(), "InvalidIdentityToken");
        String[] parts = pod().split("\\.", -1);
        String none = Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString("{\"alg\":\"none\",\"kid\":\"first\"}".getBytes(UTF_8));
        refusedToken(none + "." + parts[1] + "." + parts[2], "InvalidIdentityToken");
        refusedToken(none + "." + parts[1] + ".", "InvalidIdentityToken");
    }

    @Test
    void attackOtherKeyUnderTheSameId() {
        refusedToken(TestIssuer.signed(TestIssuer.key("first"),
                issuer.claims("ml-a", "train").build()), "InvalidIdentityToken");
    }

    /** The public key is everybody's: as a secret of HMAC it would sign for anybody. */
    @Test
    void attackKeyConfusion() throws JOSEException {
        SignedJWT token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.HS256).keyID("first").build(),
                issuer.claims("ml-a", "train").build());
        token.sign(new MACSigner(issuer.keys().getBytes(UTF_8)));
        refusedToken(token.serialize(), "InvalidIdentityToken");
    }

    @Test
    void attackKeyInTheToken() throws JOSEException {
        var key = TestIssuer.key("mine");
        SignedJWT token = new SignedJWT(new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("mine")
                .jwk(key.toPublicJWK())
                .jwkURL(URI.create("http://127.0.0.1:1/keys"))
                .build(), issuer.claims("ml-a", "train").build());
        token.sign(new com.nimbusds.jose.crypto.ECDSASigner(key));
        refusedToken(token.serialize(), "InvalidIdentityToken");
    }

    @Test
    void attackClaimsChanged() {
        String[] parts = pod().split("\\.", -1);
        String payload = new String(Base64.getUrlDecoder().decode(parts[1]), UTF_8)
                .replace("ml-a", "ml-b");
        refusedToken(parts[0] + "." + Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(payload.getBytes(UTF_8)) + "." + parts[2],
                "InvalidIdentityToken");
    }

    @Test
    void attackWrongAudience() {
        refusedClaims(claims -> claims.audience("vault"), "InvalidIdentityToken");
        assertThat(assume("pods", issuer.token("ml-a", "train",
                claims -> claims.audience("CaNaRy"))).element("Message"))
                .isEqualTo("The token&apos;s aud names none of this issuer&apos;s audiences here:"
                        + " sts.amazonaws.com, railhead.");
        refusedClaims(claims -> claims.audience(List.of()), "InvalidIdentityToken");
        assertThat(assume("pods", issuer.token("ml-a", "train",
                claims -> claims.audience(List.of("vault", "railhead")))).status())
                .isEqualTo(200);
    }

    @Test
    void attackWrongIssuer() {
        refusedClaims(claims -> claims.issuer("https://evil.example"), "InvalidIdentityToken");
        refusedClaims(claims -> claims.issuer(issuer.name() + "/"), "InvalidIdentityToken");
        refusedClaims(claims -> claims.issuer(null), "InvalidIdentityToken");
    }

    @Test
    void attackWrongTimes() {
        Instant now = Instant.now();
        refusedClaims(claims -> claims.expirationTime(Date.from(now.minusSeconds(120))),
                "ExpiredTokenException");
        refusedClaims(claims -> claims.expirationTime(null), "InvalidIdentityToken");
        refusedClaims(claims -> claims.notBeforeTime(Date.from(now.plusSeconds(120))),
                "InvalidIdentityToken");
        refusedClaims(claims -> claims.issueTime(Date.from(now.plusSeconds(120))),
                "InvalidIdentityToken");
        assertThat(assume("pods", issuer.token("ml-a", "train", claims -> claims
                .expirationTime(Date.from(now.minusSeconds(20)))
                .notBeforeTime(Date.from(now.plusSeconds(20))))).status())
                .as("within the clocks' skew")
                .isEqualTo(200);
    }

    /** An issuer that is trusted for one role must not speak for another's. */
    @Test
    void attackRoleOfAnotherIssuer() {
        try (TestIssuer other = new TestIssuer()) {
            String config = config(issuer).replace("rules:", """
                          - {issuer: "%s", audiences: [sts.amazonaws.com]}
                    rules:""".formatted(other.name()));
            gateway.restart(config);
            refused(assume("pods", other.token("ml-a", "train")), "AccessDenied");
            refused(assume("pods", other.token("ml-a", "train",
                    claims -> claims.issuer(issuer.name()))), "InvalidIdentityToken");
            assertThat(assume("pods", pod()).status()).isEqualTo(200);
        }
    }

    /** Addresses stand in logs, and a store must not learn a token that is no affair of its. */
    @ParameterizedTest
    @CsvSource({"GET,''", "POST,''", "POST,application/octet-stream",
            "POST,application/x-www-form-urlencoded"})
    void aTokenInAnAddressIsRefusedAndNotKept(String method, String type) throws Exception {
        gateway.restart(config(issuer).replace("  policy: policy.json\n", "")
                + "audit: {file: audit.jsonl}\nlog: {access: {file: access.log}}\n");
        String token = pod();
        int asked = store.requests().size();
        String query = form(fields("pods", token));
        HttpRequest.Builder request = HttpRequest
                .newBuilder(gateway.endpoint().resolve("/?" + query))
                .method(method, BodyPublishers.ofString(method.equals("GET") ? "" : query));
        if (!type.isEmpty()) {
            request.header("content-type", type);
        }
        HttpResponse<String> response = http.send(request.build(), BodyHandlers.ofString());
        refused(new Answer(response.statusCode(), response.body()), "ValidationError");
        assertThat(store.requests()).hasSize(asked);
        Path audit = gateway.directory().resolve("audit.jsonl");
        TestGateway.await(() -> lines(audit).stream()
                .anyMatch(line -> line.contains("identity_refused")));
        assertThat(lines(audit)).noneMatch(line -> line.contains(token));
        assertThat(gateway.stopAndRead("access.log")).contains("WebIdentityToken=****")
                .doesNotContain(token);
    }

    @Test
    void attackOtherTenantsRole() {
        refused(assume("pods", issuer.token("finance", "train")), "AccessDenied");
        refused(assume("fixed", pod()), "AccessDenied");
        refused(assume("nobody", pod()), "AccessDenied");
        refusedClaims(claims -> claims.claim("groups", List.of("everybody")), "AccessDenied");
        refusedClaims(claims -> claims.claim("groups", null), "AccessDenied");
        refusedClaims(claims -> claims.claim("kubernetes.io", Map.of("namespace",
                List.of("ml-a", "ml-b"), "serviceaccount", Map.of("name", "train"))),
                "AccessDenied");
    }

    /** A value that a log, a pattern or another name could take for something else. */
    @ParameterizedTest
    @CsvSource({"ml-*", "ml-a/../x", "ml-a b", "'ml-a\n'", "ml-${x}", "ml-ä"})
    void attackNameInAClaim(String namespace) {
        refused(assume("pods", issuer.token(namespace, "train")), "AccessDenied");
    }

    @Test
    void attackTooLarge() {
        refusedToken("a".repeat(20_001), "ValidationError");
        refusedToken("a.".repeat(20_001), "ValidationError");
        refusedToken("a".repeat(70_000), "ValidationError");
        refused(assume("pods", pod(), "Policy", "{\"Version\": \"2012-10-17\"" + " ".repeat(2048)
                + "}"), "ValidationError");
        refusedClaims(claims -> claims.subject("s".repeat(300)), "InvalidIdentityToken");
    }

    @ParameterizedTest
    @CsvSource({"RoleArn,''", "RoleArn,arn:aws:iam::1:role/pods", "RoleArn,arn:aws:s3:::pods",
            "RoleSessionName,''", "RoleSessionName,a", "RoleSessionName,a b",
            "WebIdentityToken,''", "DurationSeconds,abc", "DurationSeconds,-1",
            "DurationSeconds,99999999999999999999", "ProviderId,x",
            "PolicyArns.member.1.arn,arn:aws:iam::aws:policy/x",
            "PolicyArns.member.2.arn,arn:aws:iam::aws:policy/x"})
    void aMalformedCallIsRefused(String field, String value) {
        refused(assume("pods", pod(), field, value), "ValidationError");
    }

    /** The session token would not fit the head of a request. */
    @Test
    void aPolicyThatFillsTheSessionTokenIsRefused() {
        String policy = """
                {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "s3:GetObject",
                 "Resource": "arn:aws:s3:::ml-a/%s"}}""";
        refused(assume("pods", pod(), "Policy", policy.formatted("€".repeat(1800))),
                "PackedPolicyTooLarge");
        assertThat(assume("pods", pod(), "Policy", policy.formatted("e".repeat(1800))).status())
                .isEqualTo(200);
    }

    /** A caller without a token has nothing parsed, and nesting causes no stack trace. */
    @Test
    void attackNestedPolicy() {
        String nested = "[".repeat(2000);
        refused(assume("pods", pod(), "Policy", nested), "MalformedPolicyDocument");
        refused(assume("pods", "x", "Policy", nested), "InvalidIdentityToken");
    }

    @Test
    void attackClaimsThatAreNull() {
        for (String name : List.of("exp", "sub", "groups", "kubernetes.io")) {
            String token = issuer.withNull("ml-a", "train", name);
            refused(assume("pods", token), name.length() == 3
                    ? "InvalidIdentityToken"
                    : "AccessDenied");
        }
    }

    @Test
    void aShorterLifeOrAnotherIssuerEndsWhatTheRoleWouldNotGive() throws IOException {
        Answer credentials = assume("pods", pod());
        rewrite(roles(issuer, "").replace("tenant: \"${kubernetes.io/namespace}\"",
                "tenant: \"${kubernetes.io/namespace}\"\n    max_session: 15m"));
        assertThat(code(client(credentials).get("/ml-a/object"))).isEqualTo("InvalidToken");
        AccessKey other = gateway.credentials()
                .seal(new RoleSession("fixed", RoleSession.hash("https://other"), "old",
                        "system:serviceaccount:ops:x", Instant.now(),
                        Instant.now().plusSeconds(900),
                        Map.of("sub", "system:serviceaccount:ops:x"), null));
        assertThat(gateway.credentials().findAgain(other)).isNull();
    }

    @Test
    void aSessionWithAPolicyAdministersNothing() throws IOException {
        rewrite(roles(issuer, "").replace("max_session: 30m", "admin: true"));
        TestClient admin = client(assume("fixed", ops()));
        TestClient narrowed = client(assume("fixed", ops(), "Policy", """
                {"Version": "2012-10-17", "Statement": {"Effect": "Allow",
                 "Action": "s3:GetObject", "Resource": "*"}}"""));
        assertThat(pins(admin)).isEqualTo(200);
        assertThat(pins(narrowed)).isEqualTo(403);
    }

    private int pins(TestClient client) {
        return client.at(gateway.admin())
                .send("POST", "/.railhead/admin/pins", "{}".getBytes(UTF_8))
                .statusCode();
    }

    @Test
    void aMalformedTokenOrPolicyIsRefused() {
        for (String token : List.of("x", "a.b.c", "..", pod() + ".x", "{}", "é.é.é")) {
            refusedToken(token, "InvalidIdentityToken");
        }
        for (String policy : List.of("x", "{}", "{\"Version\": \"2012-10-17\", \"Statement\":"
                + " {\"Effect\": \"Allow\", \"Principal\": \"*\", \"Action\": \"s3:*\","
                + " \"Resource\": \"*\"}}")) {
            refused(assume("pods", pod(), "Policy", policy), "MalformedPolicyDocument");
        }
        refused(call(Map.of("Action", "AssumeRole")), "InvalidAction");
        refused(call(Map.of("A", "b")), "InvalidAction");
    }

    @Test
    void rotatedKeysAreFoundAndMadeUpIdsDoNotFetchThem() {
        assertThat(assume("pods", pod()).status()).isEqualTo(200);
        issuer.rotate("second");
        assertThat(assume("pods", pod()).status()).isEqualTo(200);
        int fetched = issuer.fetches();
        for (int i = 0; i < 20; i++) {
            refused(assume("pods", TestIssuer.signed(TestIssuer.key("none-" + i),
                    issuer.claims("ml-a", "train").build())),
                    i);
        }
        assertThat(issuer.fetches() - fetched).isLessThan(3);
        assertThat(assume("pods", pod()).status()).as("after the flood").isEqualTo(200);
    }

    /** Once fetches are limited, an unknown key id is the issuer's affair: both refuse. */
    private void refused(Answer answer, int attempt) {
        assertThat(answer.code()).as("attempt %s: %s", attempt, answer.body())
                .isIn("InvalidIdentityToken", "IDPCommunicationError");
    }

    @Test
    void anIssuerThatIsDownStopsNewSessionsAlone() {
        issuer.down(true);
        refused(assume("pods", pod()), "IDPCommunicationError");
        assertThat(gateway.client().get("/ml-a/object").statusCode()).isEqualTo(200);
    }

    /** Sessions that were sealed before are served meanwhile, and new ones once it answers. */
    @Test
    void aGatewayStartsWhileItsIssuerIsDown() {
        Answer before = assume("pods", pod());
        issuer.down(true);
        gateway.restart(config(issuer));
        assertThat(client(before).get("/ml-a/object").statusCode()).isEqualTo(200);
        refused(assume("pods", pod()), "IDPCommunicationError");
        issuer.down(false);
        assertThat(assume("pods", pod()).status()).isEqualTo(200);
    }

    @Test
    void aTokenIsUsedOnceWhereTheIssuerSaysSo() {
        String config = """
                gateway:
                  web_identity:
                    issuers:
                      - issuer: "%s"
                        audiences: [sts.amazonaws.com]
                        single_use: true
                """.formatted(issuer.name());
        gateway.restart(config);
        String token = issuer.token("ml-a", "train", claims -> claims.jwtID("one"));
        assertThat(assume("pods", token).status()).isEqualTo(200);
        refused(assume("pods", token), "InvalidIdentityToken");
        refused(assume("pods", pod()), "InvalidIdentityToken");
        String other = issuer.token("ml-a", "train", claims -> claims.jwtID("two"));
        refused(assume("nobody", other), "AccessDenied");
        assertThat(assume("pods", other).status()).as("not used by a mistake").isEqualTo(200);
        refused(assume("pods", issuer.token("ml-a", "train", claims -> claims.jwtID("three")
                .expirationTime(Date.from(Instant.now().plus(Duration.ofDays(2)))))),
                "InvalidIdentityToken");
    }

    @Test
    void keysMayComeFromAFile() throws IOException {
        Files.writeString(gateway.directory().resolve("keys.json"), issuer.keys());
        issuer.down(true);
        gateway.file("keys.json", issuer.keys()).restart("""
                gateway:
                  web_identity:
                    issuers:
                      - issuer: "%s"
                        audiences: [sts.amazonaws.com]
                        jwks_file: keys.json
                """.formatted(issuer.name()));
        assertThat(assume("pods", pod()).status()).isEqualTo(200);
    }

    /** A writer of the document must not learn a token that opens the issuer's own API. */
    @Test
    void theIssuersTokenGoesToItsOwnHostOnly() {
        gateway.file("bearer", "node-token");
        exchangeUnder("");
        issuer.moveKeys(issuer.name().replace("127.0.0.1", "localhost"));
        exchangeUnder("");
        exchangeUnder(", token_hosts: ['local*']");
        assertThat(issuer.bearers()).containsExactly("Bearer node-token", "",
                "Bearer node-token");
    }

    @Test
    void anotherPortOfTheIssuersHostIsAnotherServer() {
        gateway.file("bearer", "node-token");
        try (TestIssuer neighbour = new TestIssuer()) {
            neighbour.publishKeyOf(issuer);
            issuer.moveKeys(neighbour.name());
            exchangeUnder("");
            assertThat(neighbour.bearers()).containsExactly("");
        }
    }

    private void exchangeUnder(String more) {
        gateway.restart("""
                gateway:
                  web_identity:
                    issuers: [{issuer: "%s", audiences: [sts.amazonaws.com], token_file: bearer%s}]
                """.formatted(issuer.name(), more));
        assertThat(assume("pods", pod()).status()).isEqualTo(200);
    }

    /** A form to a bucket is an upload, and other posts are the store's affair. */
    @Test
    void otherPostsAreNoCalls() {
        HttpResponse<byte[]> response = gateway.client()
                .send("POST", "/b?delete", new byte[0]);
        assertThat(new String(response.body(), UTF_8)).doesNotContain("sts.amazonaws.com");
        assertThat(Objects.requireNonNullElse(code(response), "")).isNotEqualTo("InvalidAction");
    }
}
