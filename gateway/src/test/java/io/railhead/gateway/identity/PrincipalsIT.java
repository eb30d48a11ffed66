package io.railhead.gateway.identity;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who may read what is held. */
class PrincipalsIT {
    private static final byte[] OBJECT = "the same bytes in both stores".getBytes();

    private final FakeStore one = new FakeStore();
    private final FakeStore two = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(one).owning(two).config("""
            backends:
              one: {}
              two:
                endpoints: [%s]
            rules:
              - tenant: second
                backend: two
                freshness: immutable
              - bucket: remembered
                backend: one
                freshness: immutable
              - bucket: shared
                backend: one
                freshness: immutable
                shared: true
                authorization: {remember: 0s}
              - backend: one
            """.formatted(two.endpoint())).principals("""
            principals:
              - name: alice
                keys: [{access_key: ALICE, secret_key: alice-secret}]
              - name: bob
                keys: [{access_key: BOB, secret_key: bob-secret}]
              - name: carol
                tenant: second
                keys: [{access_key: CAROL, secret_key: carol-secret}]
            """);

    private TestClient alice() {
        return gateway.client("ALICE", "alice-secret");
    }

    private TestClient bob() {
        return gateway.client("BOB", "bob-secret");
    }

    private static void assertError(HttpResponse<byte[]> answer, int status, String code) {
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(new String(answer.body())).contains("<Code>" + code + "</Code>");
    }

    @Test
    void whatOneMayReadAnotherWhoMayNotIsRefused() {
        one.put("/shared/key", OBJECT);
        assertThat(alice().get("/shared/key").body()).isEqualTo(OBJECT);
        assertThat(bob().get("/shared/key").body()).isEqualTo(OBJECT);
        one.deny("BOB");
        assertError(bob().get("/shared/key"), 403, "AccessDenied");
        assertThat(alice().get("/shared/key").body()).isEqualTo(OBJECT);
    }

    @Test
    void equalNamesAndETagsInTwoStoresNeverMeet() {
        one.put("/b/key", OBJECT);
        two.put("/b/key", OBJECT);
        assertThat(alice().get("/b/key").body()).isEqualTo(OBJECT);
        two.deny("CAROL");
        assertError(gateway.client("CAROL", "carol-secret").get("/b/key"), 403, "AccessDenied");
        assertThat(two.count("GET")).isPositive();
    }

    @Test
    void aSharedObjectIsHeldOnceForAll() {
        one.put("/shared/once", OBJECT);
        alice().get("/shared/once");
        bob().get("/shared/once");
        assertThat(one.count("GET /shared/once")).isEqualTo(1);
    }

    /** The store tells the one, who may know, and not the other. */
    @Test
    void whatIsToldForARightOfItsOwnIsNotHeldForAll() {
        one.put("/shared/locked", OBJECT);
        one.header("x-amz-object-lock-mode", "GOVERNANCE");
        one.header("x-amz-tagging-count", "2");
        one.header("x-amz-meta-for", "all");
        alice().get("/shared/locked");
        var answer = bob().get("/shared/locked");
        assertThat(answer.headers().map()).containsKey("x-amz-meta-for")
                .doesNotContainKeys("x-amz-object-lock-mode", "x-amz-tagging-count");
    }

    @Test
    void aRememberedGrantAsksNobody() {
        one.put("/remembered/key", OBJECT);
        alice().get("/remembered/key");
        int before = one.requests().size();
        assertThat(alice().get("/remembered/key").body()).isEqualTo(OBJECT);
        assertThat(one.requests()).hasSize(before);
    }

    @Test
    void aWrongSecretAnUnknownKeyAndAnOldSignatureAreRefusedBeforeAnyLookup() {
        one.put("/b/key", OBJECT);
        alice().get("/b/key");
        long before = one.count("GET /b/key") + one.count("HEAD /b/key");
        assertError(gateway.client("ALICE", "wrong").get("/b/key"), 403, "SignatureDoesNotMatch");
        assertError(gateway.client("NOBODY", "wrong").get("/b/key"), 403, "InvalidAccessKeyId");
        Clock anHourAgo = Clock.offset(Clock.systemUTC(), Duration.ofHours(-1));
        assertError(alice().at(anHourAgo).get("/b/key"), 403, "RequestTimeTooSkewed");
        assertThat(one.count("GET /b/key") + one.count("HEAD /b/key")).isEqualTo(before);
    }

    @Test
    void anAnonymousReaderIsJudgedByTheStore() {
        one.put("/b/public", OBJECT);
        assertThat(alice().get("/b/public").body()).isEqualTo(OBJECT);
        assertThat(alice().anonymous("GET", "/b/public").body()).isEqualTo(OBJECT);
        one.deny("");
        assertError(alice().anonymous("GET", "/b/public"), 403, "AccessDenied");
    }

    @Test
    void aPublicObjectIsHeldForAnonymousReadersAndAPrivateOneIsNot() {
        one.put("/remembered/public", OBJECT);
        one.put("/remembered/private", OBJECT);
        one.fault((exchange, object) -> isPrivateWithoutSignature(exchange));
        for (int round = 0; round < 2; round++) {
            assertThat(alice().anonymous("GET", "/remembered/public").body()).isEqualTo(OBJECT);
            assertThat(alice().get("/remembered/private").body()).isEqualTo(OBJECT);
            assertThat(alice().anonymous("GET", "/remembered/private").statusCode())
                    .isEqualTo(403);
        }
        assertThat(one.count("GET /remembered/public")).isEqualTo(1);
        assertThat(one.count("HEAD")).isZero();
    }

    private static boolean isPrivateWithoutSignature(HttpExchange exchange) {
        boolean refused = exchange.getRequestURI().getPath().endsWith("private")
                && !exchange.getRequestHeaders().containsKey("Authorization");
        if (refused) {
            try {
                exchange.sendResponseHeaders(403, -1);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return refused;
    }

    @Test
    void aWithdrawnPrincipalIsRefusedAtOnce() throws Exception {
        one.put("/remembered/key", OBJECT);
        alice().get("/remembered/key");
        Files.writeString(gateway.directory().resolve("credentials.yaml"), """
                principals:
                  - name: bob
                    keys: [{access_key: BOB, secret_key: bob-secret}]
                """);
        gateway.credentials().reload();
        assertError(alice().get("/remembered/key"), 403, "InvalidAccessKeyId");
    }
}
