package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.s3.sigv4.HandSigned;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Targets with an authority, as clients behind a proxy's setting send them. */
class AbsoluteTargetIT {
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              domains: [s3.rack1]
            rules:
              - freshness: immutable
                authorization: {remember: 1h}
            """);

    @BeforeEach
    void start() {
        store.put("/b/key", "found".getBytes());
    }

    private RawConnection.Answer send(String head) {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            RawConnection.Answer answer = raw.send(head).receiveHead();
            int length = Integer.parseInt(answer.headers().getOrDefault("content-length", "0"));
            return head.startsWith("HEAD")
                    ? answer
                    : new RawConnection.Answer(answer.status(), answer.headers(),
                            new String(raw.read(length)));
        }
    }

    /** Signed for a path, sent with an authority before it. */
    private static String absolute(String head, String path, String authority) {
        return head.replaceFirst(" " + path, " http://" + authority + path);
    }

    @ParameterizedTest
    @CsvSource({"GET,200", "HEAD,200", "PUT,200", "DELETE,204"})
    void eachMethodIsServed(String method, int status) {
        String head = new HandSigned(method, "/b/key", "").host("gw:9000").head();
        for (int round = 0; round < 2; round++) {
            RawConnection.Answer answer = send(absolute(head, "/b/key", "gw:9000"));
            assertThat(answer.status()).as(answer.body()).isEqualTo(status);
        }
    }

    @Test
    void aHitIsServedInEitherForm() {
        String head = new HandSigned("GET", "/b/key", "").host("gw").head();
        assertThat(send(head).headers()).containsEntry("x-cache", "MISS");
        RawConnection.Answer hit = send(absolute(head, "/b/key", "gw"));
        assertThat(hit.headers()).containsEntry("x-cache", "HIT");
        assertThat(hit.body()).isEqualTo("found");
        assertThat(send(head.replace(" /b/key", " HTTP://gw/b/key")).body()).isEqualTo("found");
        assertThat(send("GET http://h/b/key?versionId=%zz HTTP/1.1\r\nHost: h\r\n\r\n").status())
                .isEqualTo(400);
    }

    /** Either may be what a client signed, where both name the same bucket or none. */
    @ParameterizedTest
    @ValueSource(strings = {"gw:9000", "other"})
    void theAuthorityStandsForAnotherHost(String signed) {
        String head = new HandSigned("GET", "/b/key", "").host(signed).head();
        String sent = absolute(head, "/b/key", "gw:9000")
                .replace("host: " + signed + "\r\n", "host: other\r\n");
        assertThat(send(sent).body()).isEqualTo("found");
    }

    @Test
    void aBucketInTheAuthorityIsTheOneThatIsRead() {
        store.put("/c/key", "another".getBytes());
        String head = new HandSigned("GET", "/key", "").host("b.s3.rack1").head();
        assertThat(send(absolute(head, "/key", "b.s3.rack1")).body()).isEqualTo("found");
        assertThat(send(absolute(head, "/key", "b.s3.rack1")
                .replace("host: b.s3.rack1", "host: c.s3.rack1")).body()).isEqualTo("found");
    }

    @Test
    void aBucketThatOnlyTheHostWasSignedForIsNotExchanged() {
        store.put("/c/key", "another".getBytes());
        String head = new HandSigned("GET", "/key", "").host("b.s3.rack1").head();
        RawConnection.Answer answer = send(absolute(head, "/key", "c.s3.rack1"));
        assertThat(answer.status()).isEqualTo(403);
        assertThat(answer.body()).contains("SignatureDoesNotMatch");
    }

    @Test
    void anEncodedSlashThatWasSignedAsOneNamesTheSameObject() {
        store.put("/b/a/k", "nested".getBytes());
        String head = new HandSigned("GET", "/b/a/k", "").head();
        assertThat(send(head.replace("/b/a/k", "/b/a%2Fk")).body()).isEqualTo("nested");
        assertThat(send(head).headers()).containsEntry("x-cache", "HIT");
        assertThat(store.count("GET /b/a/k")).isEqualTo(1);
        assertThat(send(head.replace("/b/a/k", "/b%2Fa/k")).status()).isEqualTo(400);
    }
}
