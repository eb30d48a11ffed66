package io.railhead.gateway.authorization;

import static io.railhead.gateway.TestClient.cached;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.net.http.HttpResponse;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Stores whose yes to one request is none to another, and which look at more than the key. */
class StoresRightsIT {
    private static final byte[] OBJECT = RandomBytes.random(1, 300_000);

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rules:
              - bucket: fixed
                freshness: immutable
                shared: true
              - freshness: strong
                shared: true
                authorization: {remember: 0s}
            """).principals("""
            principals:
              - name: alice
                keys: [{access_key: ALICE, secret_key: alice-secret}]
              - name: bob
                keys: [{access_key: BOB, secret_key: bob-secret}]
            """);

    private TestClient alice() {
        return gateway.client("ALICE", "alice-secret");
    }

    private TestClient bob() {
        return gateway.client("BOB", "bob-secret");
    }

    private void deny(Predicate<HttpExchange> denied) {
        store.fault((exchange, object) -> {
            boolean isDenied = denied.test(exchange);
            if (isDenied) {
                FakeStore.answerQuietly(exchange, 403);
            }
            return isDenied;
        });
    }

    private static boolean isGetOf(HttpExchange exchange, String accessKey) {
        return exchange.getRequestMethod().equals("GET")
                && exchange.getRequestHeaders().getFirst("Authorization").contains(accessKey);
    }

    /** As S3 does where the key that decrypts is another's, or the bytes are in an archive. */
    @ParameterizedTest
    @CsvSource({"b,x-amz-server-side-encryption,aws:kms",
            "fixed,x-amz-server-side-encryption,aws:kms:dsse", "b,x-amz-storage-class,GLACIER"})
    void whoMayAskForItsHeadMayNotReadItForThat(String bucket, String name, String value) {
        String path = "/" + bucket + "/key";
        store.put(path, OBJECT);
        store.header(name, value);
        deny(exchange -> isGetOf(exchange, "BOB"));
        assertThat(alice().get(path).body()).isEqualTo(OBJECT);
        assertThat(cached(alice().get(path))).isIn("HIT", "REVALIDATED");
        assertThat(bob().head(path).statusCode()).isEqualTo(200);
        assertThat(bob().get(path).statusCode()).isEqualTo(403);
        assertThat(bob().get(path, "Range", "bytes=0-9").statusCode()).isEqualTo(403);
        assertThat(alice().get(path).body()).isEqualTo(OBJECT);
    }

    @Test
    void norWhoMightReadItBefore() {
        store.put("/b/key", OBJECT);
        store.header("x-amz-server-side-encryption", "aws:kms");
        assertThat(alice().get("/b/key").body()).isEqualTo(OBJECT);
        deny(exchange -> isGetOf(exchange, "ALICE"));
        assertThat(alice().get("/b/key").statusCode()).isEqualTo(403);
    }

    @Test
    void aStoreThatAsksWhereItsReadersComeFromIsTold() {
        store.put("/b/key", OBJECT);
        deny(exchange -> !"https://site/"
                .equals(exchange.getRequestHeaders().getFirst("Referer")));
        assertThat(alice().get("/b/key", "Referer", "https://site/").body()).isEqualTo(OBJECT);
        assertThat(alice().head("/b/key", "Referer", "https://site/").statusCode())
                .isEqualTo(200);
        assertThat(alice().get("/b/key").statusCode()).isEqualTo(403);
    }

    /** S3 decrypts for checksums, which only the gateway asked for. */
    @Test
    void aHeadThatOnlyOursIsTooMuchForIsTheClients() {
        store.put("/b/key", OBJECT);
        deny(exchange -> exchange.getRequestHeaders().containsKey("x-amz-checksum-mode"));
        assertThat(alice().head("/b/key").statusCode()).isEqualTo(200);
    }

    @Test
    void aHeadOfWhatIsNotHeldSaysWhatItShouldBeAnsweredWith() {
        store.put("/b/key", OBJECT);
        store.header("Cache-Control", "no-store");
        assertThat(alice().head("/b/key?response-content-type=text%2Fx").statusCode())
                .isEqualTo(200);
        assertThat(store.queries("/b/key").getLast()).isEqualTo("response-content-type=text%2Fx");
    }

    @Test
    void whatOneMessageSaysOfItselfIsNotToldToOthers() {
        store.put("/fixed/key", OBJECT);
        store.header("Set-Cookie", "server=1");
        store.header("Alt-Svc", "h3=\":443\"");
        alice().get("/fixed/key");
        HttpResponse<byte[]> held = bob().get("/fixed/key");
        assertThat(cached(bob().get("/fixed/key"))).isEqualTo("HIT");
        assertThat(held.headers().map()).doesNotContainKeys("set-cookie", "alt-svc");
    }

    /** Of two objects that are not the same, byte by byte, it may be the name of both. */
    @Test
    void aWeakEtagNamesNoBytes() {
        store.put("/fixed/key", OBJECT);
        store.header("ETag", "W/\"1\"");
        alice().get("/fixed/key");
        assertThat(cached(alice().get("/fixed/key"))).isEqualTo("BYPASS");
    }
}
