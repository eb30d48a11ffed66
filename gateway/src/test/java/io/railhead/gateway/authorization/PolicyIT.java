package io.railhead.gateway.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.Serve;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the policy file allows, over HTTP and over the native channel. */
class PolicyIT {
    private static final byte[] OBJECT = "held once, allowed to some".getBytes();
    private static final String POLICY = """
            {"Version": "2012-10-17", "Statement": [
              {"Effect": "Allow", "Principal": ["alice", "bob"], "Action": "s3:*",
               "Resource": ["arn:aws:s3:::b", "arn:aws:s3:::b/*"]},
              {"Effect": "Deny", "Principal": "bob", "Action": ["s3:GetObject", "s3:DeleteObject*"],
               "Resource": "arn:aws:s3:::b/secret/*"},
              {"Effect": "Allow", "Principal": "*", "Action": "s3:*",
               "Resource": ["arn:aws:s3:::home/${principal}/*", "arn:aws:s3:::team-${tenant}/*"]},
              {"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": "*",
               "Condition": {"NotIpAddress": {"aws:SourceIp": "127.0.0.0/8"}}}]}
            """;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              policy: policy.json
            rules:
              - freshness: immutable
                authorization: policy
                stale_if_error: true
            """).file("policy.json", POLICY).principals("""
            principals:
              - name: alice
                keys: [{access_key: ALICE, secret_key: alice-secret}]
                backend_credential: {access_key: STORE, secret_key: store-secret}
              - name: bob
                keys: [{access_key: BOB, secret_key: bob-secret}]
                backend_credential: {access_key: STORE, secret_key: store-secret}
              - name: carol
                tenant: other
                keys: [{access_key: CAROL, secret_key: carol-secret}]
                backend_credential: {access_key: STORE, secret_key: store-secret}
            """);

    private TestClient alice() {
        return gateway.client("ALICE", "alice-secret");
    }

    private TestClient bob() {
        return gateway.client("BOB", "bob-secret");
    }

    private static void assertDenied(HttpResponse<byte[]> answer) {
        assertThat(answer.statusCode()).isEqualTo(403);
        assertThat(new String(answer.body())).contains("<Code>AccessDenied</Code>");
    }

    @Test
    void whoIsAllowedSharesWhatIsHeldAndTheStoreIsAskedOnce() {
        store.put("/b/key", OBJECT);
        assertThat(alice().get("/b/key").body()).isEqualTo(OBJECT);
        assertThat(bob().get("/b/key").body()).isEqualTo(OBJECT);
        assertThat(store.requests().stream().filter(line -> line.contains("/b/key"))).hasSize(1);
    }

    /** Its client was told, though not the gateway of which key. */
    @Test
    void whatAWriteMayHaveReplacedIsNotServedForWantOfAStore() {
        store.put("/b/key", OBJECT);
        alice().get("/b/key");
        assertThat(alice().put("/b/a//b", OBJECT).statusCode()).isEqualTo(200);
        store.close();
        assertThat(alice().get("/b/key").statusCode()).isEqualTo(503);
    }

    @Test
    void whoIsDeniedIsRefusedAlthoughItIsHeld() {
        store.put("/b/secret/key", OBJECT);
        assertThat(alice().get("/b/secret/key").body()).isEqualTo(OBJECT);
        assertDenied(bob().get("/b/secret/key"));
        assertDenied(bob().delete("/b/secret/key"));
        assertDenied(alice().get("/other/key"));
        assertDenied(alice().anonymous("GET", "/b/secret/key"));
        assertThat(store.object("/b/secret/key")).isEqualTo(OBJECT);
        assertThat(gateway.metric("railhead_policy_denied_total{action=\"s3:GetObject\",}"))
                .isEqualTo(3);
    }

    @Test
    void variablesAreOfWhoeverAsks() {
        store.put("/home/alice/key", OBJECT);
        store.put("/team-default/key", OBJECT);
        TestClient carol = gateway.client("CAROL", "carol-secret");
        assertThat(alice().get("/home/alice/key").body()).isEqualTo(OBJECT);
        assertDenied(bob().get("/home/alice/key"));
        assertDenied(alice().anonymous("GET", "/home//key"));
        assertThat(bob().get("/team-default/key").body()).isEqualTo(OBJECT);
        assertDenied(carol.get("/team-default/key"));
        assertDenied(alice().anonymous("GET", "/team-/key"));
        try (TestPeer alices = new TestPeer(alice(), "alice-secret", 4096);
                TestPeer carols = new TestPeer(carol, "carol-secret", 4096)) {
            assertThat(ask(alices, "team-default", "key").status()).isEqualTo(200);
            assertThat(ask(carols, "team-default", "key").code()).isEqualTo("AccessDenied");
            assertThat(ask(carols, "home", "alice/key").code()).isEqualTo("AccessDenied");
        }
    }

    @Test
    void aKeyThatAStoreCouldResolveToAnotherIsDenied() {
        store.put("/b/secret/key", OBJECT);
        assertDenied(alice().get("/b/x/../secret/key"));
        assertDenied(alice().get("/b/%2e%2e/b/secret/key"));
        assertDenied(bob().get("/b//secret/key"));
        assertDenied(bob().get("/b/secret//key"));
        assertDenied(bob().get("/b///secret/key"));
        assertThat(bob().get("/b//another//key").statusCode()).isEqualTo(404);
        assertThat(alice().get("/b/x..y").statusCode()).isEqualTo(404);
    }

    @Test
    void aCopyMustBeAllowedToReadItsSource() {
        store.put("/b/secret/key", OBJECT);
        assertDenied(bob().put("/b/mine", new byte[0], "x-amz-copy-source", "/b/secret/key"));
        assertThat(store.count("PUT")).isZero();
    }

    private HttpResponse<byte[]> deleting(AtomicReference<String> heard, String answer,
            String document) {
        store.fault((exchange, body) -> {
            heard.set(new String(body, StandardCharsets.UTF_8));
            assertThat(exchange.getRequestHeaders().getFirst("Content-MD5"))
                    .isEqualTo(md5(body));
            assertThat(exchange.getRequestHeaders().getFirst("x-amz-checksum-crc32")).isNull();
            try {
                exchange.sendResponseHeaders(200, answer.length());
                exchange.getResponseBody().write(answer.getBytes(StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return true;
        });
        byte[] body = document.getBytes(StandardCharsets.UTF_8);
        CRC32 crc = new CRC32();
        crc.update(body);
        return bob().send("POST", "/b?delete", body, "x-amz-checksum-crc32",
                Base64.getEncoder()
                        .encodeToString(ByteBuffer.allocate(4)
                                .putInt((int) crc.getValue())
                                .array()));
    }

    private static String md5(byte[] body) {
        try {
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("MD5").digest(body));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final String DELETED = "<DeleteResult xmlns=\"n\"><Deleted><Key>a&amp;b</Key>"
            + "</Deleted></DeleteResult>";
    private static final String DENIED = "<Error><Key>secret/&lt;b&gt;</Key>"
            + "<VersionId>v1</VersionId><Code>AccessDenied</Code><Message>Access Denied</Message>"
            + "</Error>";

    @ParameterizedTest
    @ValueSource(strings = {DELETED, "<DeleteResult xmlns=\"n\"/>"})
    void eachKeyThatMayNotBeDeletedIsRefusedAndTheOthersAreDeleted(String answer) {
        store.put("/b/a&b", OBJECT);
        AtomicReference<String> heard = new AtomicReference<>("");
        HttpResponse<byte[]> result = deleting(heard, answer, "<Delete><Quiet>false</Quiet>"
                + "<Object><Key>a&amp;b</Key><ETag>\"e\"</ETag></Object><Object><VersionId>v1"
                + "</VersionId><Key>secret/&lt;b&gt;</Key></Object></Delete>");
        assertThat(result.statusCode()).isEqualTo(200);
        assertThat(new String(result.body())).isEqualTo(
                answer.replace("/>", "></DeleteResult>")
                        .replace("</DeleteResult>", DENIED + "</DeleteResult>"));
        assertThat(heard.get()).contains("<Quiet>false</Quiet><Object><Key>a&amp;b</Key>"
                + "<ETag>&quot;e&quot;</ETag></Object></Delete>").doesNotContain("secret");
        assertThat(gateway.metric("railhead_policy_denied_total{action=\"s3:DeleteObject"
                + "Version\",}")).isOne();
    }

    @Test
    void aListOfWhichNothingIsAllowedAsksNobody() {
        HttpResponse<byte[]> result = bob().send("POST", "/b?delete",
                "<Delete><Object><Key>secret/&lt;b&gt;</Key></Object></Delete>"
                        .getBytes(StandardCharsets.UTF_8));
        assertThat(result.statusCode()).isEqualTo(200);
        assertThat(new String(result.body())).endsWith(
                DENIED.replace("<VersionId>v1</VersionId>", "") + "</DeleteResult>");
        assertThat(store.count("POST")).isZero();
    }

    @Test
    void aChangedPolicyHoldsForTheNextRequestAndABadOneChangesNothing() throws Exception {
        Path policy = gateway.directory().resolve("policy.json");
        store.put("/b/key", OBJECT);
        assertThat(bob().get("/b/key").statusCode()).isEqualTo(200);
        Files.writeString(policy, POLICY.replace("b/secret/*", "b/*"));
        TestGateway.await(() -> bob().get("/b/key").statusCode() == 403);
        Files.writeString(policy, "{}");
        assertDenied(bob().get("/b/key"));
        Files.writeString(policy, POLICY);
        TestGateway.await(() -> bob().get("/b/key").statusCode() == 200);
    }

    @Test
    void nativeRequestsAreHeldAgainstItColdAndHeld() {
        store.put("/b/secret/key", OBJECT);
        store.put("/b/key", OBJECT);
        try (TestPeer bobs = new TestPeer(bob(), "bob-secret", 4096);
                TestPeer alices = new TestPeer(alice(), "alice-secret", 4096)) {
            for (int round = 0; round < 2; round++) {
                assertThat(ask(bobs, "secret/key").code()).isEqualTo("AccessDenied");
                assertThat(ask(alices, "secret/key").status()).isEqualTo(200);
                assertThat(ask(bobs, "key").status()).isEqualTo(200);
            }
            assertThat(alices.bytes(0, OBJECT.length)).isEqualTo(OBJECT);
        }
    }

    private static Answer ask(TestPeer peer, String key) {
        return ask(peer, "b", key);
    }

    private static Answer ask(TestPeer peer, String bucket, String key) {
        return peer.ask(Request.get(0, bucket, key, peer.key(), 0, 4096));
    }

    @Test
    void aTokenOpensNothingThatIsDenied() {
        store.put("/b/secret/key", OBJECT);
        assertThat(alice().get("/b/secret/key").statusCode()).isEqualTo(200);
        try (TestPeer peer = new TestPeer(bob(), "bob-secret", 4096)) {
            peer.fill(4);
            HttpResponse<byte[]> answer = bob().get("/b/secret/key", "x-amz-rdma-token",
                    peer.token(0, 4096).format(), "x-amz-content-sha256", "UNSIGNED-PAYLOAD");
            assertThat(answer.statusCode()).isEqualTo(403);
            assertThat(peer.isAll(4)).isTrue();
        }
    }

    @Test
    void aPolicyThatIsNotUnderstoodStopsTheStart(@TempDir Path folder) throws Exception {
        Files.writeString(folder.resolve("policy.json"), POLICY.replace("Effect", "Efect"));
        Files.writeString(folder.resolve("credentials.yaml"),
                "principals: [{name: a, keys: [{access_key: A, secret_key: s}]}]");
        Path config = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {credentials: credentials.yaml, policy: policy.json}
                backends: {a: {endpoints: ["http://127.0.0.1:1"]}}
                rdma: {loopback: {enabled: false}}
                """);
        assertThat(ConfigLoader.load(config).gateway().access().policy()).isNotNull();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int status = new Serve(System.out, new PrintStream(err)).check(config);
        assertThat(status).isEqualTo(1);
        assertThat(err.toString()).contains(
                "policy.json: Statement[0].Efect: unknown key; did you mean Statement[0].Effect?");
    }
}
