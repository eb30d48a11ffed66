package io.railhead.gateway.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.Caller;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Received;
import io.railhead.backend.testing.ScriptedStore.Script;
import io.railhead.backend.testing.StoreSignature;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.frontdoor.RawConnection;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the store hears of a request is what the client said: the same key, the same query, the same
 * headers, under a signature that holds over the bytes that arrive there.
 */
class RequestFidelityIT {
    private static final byte[] BODY = "hello, railhead".getBytes(StandardCharsets.US_ASCII);
    private static final Caller.Credential KNOWN = new Caller.Credential("AK", "SK", null);

    private final ScriptedStore store = new ScriptedStore(
            Script.answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
                    + "ETag: \"e\"", new byte[0]));
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store);
    private final TestClient client = gateway.client();

    private Received heard() {
        return heard("");
    }

    /** The last such request for the bucket; the gateway asks for the service itself. */
    private Received heard(String method) {
        Received last = store.received()
                .stream()
                .filter(request -> request.line().startsWith(method)
                        && request.line().contains(" /b"))
                .reduce((first, second) -> second)
                .orElseThrow();
        if (last.header("Authorization") != null) {
            assertThat(StoreSignature.sent(last)).isEqualTo(StoreSignature.expected(last, KNOWN));
        }
        return last;
    }

    private static Stream<Arguments> keys() {
        return Stream.of(
                Arguments.of("/b//x//", "/b//x//"),
                Arguments.of("/b/./x/../y/.", "/b/./x/../y/."),
                Arguments.of("/b/%2E%2e/x", "/b/../x"),
                Arguments.of("/b/a%2Fb", "/b/a/b"),
                Arguments.of("/b/a%252Fb", "/b/a%252Fb"),
                Arguments.of("/b/a+b", "/b/a%2Bb"),
                Arguments.of("/b/a%20b%2B", "/b/a%20b%2B"),
                Arguments.of("/b/%C3%BC%E2%98%83%F0%9F%9A%82", "/b/%C3%BC%E2%98%83%F0%9F%9A%82"),
                Arguments.of("/b/u%CC%88", "/b/u%CC%88"),
                Arguments.of("/b/a%3Fb%23c%5B%5D", "/b/a%3Fb%23c%5B%5D"),
                Arguments.of("/b/a=b&c;d:e@f,g$h!(i)*'", "/b/a%3Db%26c%3Bd%3Ae%40f%2Cg%24h%21"
                        + "%28i%29%2A%27"),
                Arguments.of("/b/%0A%09%7F", "/b/%0A%09%7F"),
                Arguments.of("/b/" + "x".repeat(1024), "/b/" + "x".repeat(1024)),
                Arguments.of("/b/" + "%C3%BC".repeat(512), "/b/" + "%C3%BC".repeat(512)));
    }

    @ParameterizedTest
    @MethodSource("keys")
    void everyByteOfAKeyArrives(String sent, String heard) {
        for (String method : List.of("PUT", "GET", "HEAD", "DELETE")) {
            client.send(method, sent, method.equals("PUT") ? BODY : new byte[0]);
            // What a GET finds to be empty is described by a HEAD after it.
            assertThat(heard(method).line()).isEqualTo(method + " " + heard + " HTTP/1.1");
        }
    }

    @Test
    void aKeyThatIsNotEscapedIsTheSameKey() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send("DELETE /b/ü?x-id=ä HTTP/1.1\r\nHost: h\r\n\r\n"
                    .getBytes(StandardCharsets.UTF_8));
            assertThat(raw.receive().status()).isEqualTo(200);
        }
        assertThat(heard().line()).isEqualTo("DELETE /b/%C3%BC?x-id=%C3%A4 HTTP/1.1");
    }

    /** Two keys that only differ in such bytes would be one where they are held. */
    @ParameterizedTest
    @ValueSource(strings = {"/b/%FF", "/b/%C3", "/b/%ED%A0%80", "/b/%C0%AF", "/b?prefix=%FF"})
    void whatIsNotUtf8NamesNothing(String target) {
        HttpResponse<byte[]> answer = client.get(target);
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(new String(answer.body())).contains("<Code>InvalidURI</Code>");
    }

    @ParameterizedTest
    @CsvSource({"acl,acl", "acl=,acl=", "versionId=,versionId=", "z=1&a=2&m,z=1&a=2&m",
            "list-type=2&prefix=%C3%BC%2F&delimiter=%2F&max-keys=3&start-after=a%26b%3D,"
                    + "list-type=2&prefix=%C3%BC%2F&delimiter=%2F&max-keys=3&start-after=a%26b%3D",
            "prefix=a+b,prefix=a%20b", "prefix=a%2Bb,prefix=a%2Bb", "prefix=a/b,prefix=a%2Fb",
            "versions&key-marker=%25&version-id-marker=null,"
                    + "versions&key-marker=%25&version-id-marker=null",
            "prefix=%7E~,prefix=~~", "encoding-type=url&prefix=%20,encoding-type=url&prefix=%20",
            "uploadId=../../other/key,uploadId=..%2F..%2Fother%2Fkey",
            "uploadId=%2e%2E%2F..%5C%00%23,uploadId=..%2F..%5C%00%23",
            "uploadId=%252e%252e%252Fother,uploadId=%252e%252e%252Fother"})
    void aQueryMeansTheSame(String sent, String heard) {
        client.get("/b?" + sent);
        assertThat(heard().line()).isEqualTo("GET /b?" + heard + " HTTP/1.1");
        client.put("/b/key?" + sent, BODY);
        assertThat(heard().line()).isEqualTo("PUT /b/key?" + heard + " HTTP/1.1");
    }

    private static final List<String> HEADERS = List.of("x-amz-acl: public-read",
            "x-amz-grant-read: id=\"1\", emailAddress=\"a@b\"",
            "x-amz-grant-full-control: id=\"2\"",
            "x-amz-storage-class: STANDARD_IA", "x-amz-website-redirect-location: /a b?c=d",
            "x-amz-tagging: a=b&c=d%20e&f", "x-amz-object-lock-mode: GOVERNANCE",
            "x-amz-object-lock-retain-until-date: 2030-01-01T00:00:00.000Z",
            "x-amz-object-lock-legal-hold: ON", "x-amz-bypass-governance-retention: true",
            "x-amz-bucket-object-lock-enabled: true", "x-amz-object-ownership: ObjectWriter",
            "x-amz-server-side-encryption: aws:kms",
            "x-amz-server-side-encryption-aws-kms-key-id: arn:aws:kms:r:1:key/2",
            "x-amz-server-side-encryption-context: eyJhIjoiYiJ9",
            "x-amz-server-side-encryption-bucket-key-enabled: true",
            "x-amz-server-side-encryption-customer-algorithm: AES256",
            "x-amz-server-side-encryption-customer-key: "
                    + "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
            "x-amz-server-side-encryption-customer-key-MD5: hRasmdxgYDKV3nvbahU1MA==",
            "x-amz-copy-source-server-side-encryption-customer-algorithm: AES256",
            "x-amz-metadata-directive: REPLACE", "x-amz-tagging-directive: REPLACE",
            "x-amz-copy-source-if-match: \"a\"", "x-amz-copy-source-if-none-match: \"b\"",
            "x-amz-copy-source-if-modified-since: Fri, 20 Nov 2026 00:00:00 GMT",
            "x-amz-copy-source-range: bytes=0-1", "x-amz-expected-bucket-owner: 111122223333",
            "x-amz-source-expected-bucket-owner: 111122223333", "x-amz-request-payer: requester",
            "x-amz-mfa: serial 123456", "x-amz-sdk-checksum-algorithm: SHA256",
            "x-amz-checksum-algorithm: CRC64NVME", "x-amz-checksum-type: FULL_OBJECT",
            "x-amz-mp-object-size: 15", "x-amz-object-attributes: ETag,Checksum,ObjectParts",
            "x-amz-max-parts: 3", "x-amz-part-number-marker: 1", "x-amz-write-offset-bytes: 15",
            "x-amz-optional-object-attributes: RestoreStatus", "x-amz-confirm-remove-self-bucket-"
                    + "access: true",
            "x-amz-if-match-size: 15", "x-amz-transition-default-minimum-object-size: varies_by_"
                    + "storage_class",
            "x-amz-meta-a: two  blanks and \"quotes\"", "x-amz-meta-Empty: ",
            "x-amz-meta-encoded: =?UTF-8?Q?=C3=BC?=", "x-amz-some-new-thing: kept",
            "Cache-Control: max-age=3, must-revalidate", "Content-Disposition: attachment; "
                    + "filename=\"a b.txt\"",
            "Content-Language: de, en", "Content-Type: text/x; charset=utf-8",
            "Expires: Fri, 20 Nov 2026 00:00:00 GMT", "If-None-Match: *",
            "User-Agent: a client/1 (of some kind)", "Referer: http://r/");

    private static String[] headers(List<String> lines) {
        List<String> fields = new ArrayList<>();
        for (String line : lines) {
            int colon = line.indexOf(':');
            fields.add(line.substring(0, colon));
            fields.add(line.substring(colon + 1).strip());
        }
        return fields.toArray(String[]::new);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PUT /b/key", "PUT /b/key?partNumber=1&uploadId=u",
            "POST /b/key?uploads",
            "POST /b/key?uploadId=u", "PUT /b/key?retention", "PUT /b", "DELETE /b/key?versionId=v",
            "GET /b/key?attributes", "GET /b?versions", "PUT /b?object-lock"})
    void everyHeaderOfARequestArrives(String operation) {
        String method = operation.substring(0, operation.indexOf(' '));
        byte[] body = method.equals("PUT") ? BODY : new byte[0];
        client.send(method, operation.substring(method.length() + 1), body, headers(HEADERS));
        Received heard = heard();
        for (int i = 0; i < HEADERS.size(); i++) {
            String[] sent = headers(List.of(HEADERS.get(i)));
            assertThat(heard.header(sent[0])).as(sent[0]).isEqualTo(sent[1]);
        }
        assertThat(heard.body()).isEqualTo(body);
        assertThat(heard.headers().stream().filter(line -> line.startsWith("x-railhead")))
                .isEmpty();
    }

    /** Some clients send metadata as the bytes it is, and S3 keeps them. */
    @Test
    void metadataThatIsNotAsciiArrivesAsItsBytes() {
        String text = new String("größe ☃".getBytes(StandardCharsets.UTF_8),
                StandardCharsets.ISO_8859_1);
        HttpRequest signed = client.signed("PUT", "/b/key", BODY);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            String head = RawConnection.head(signed, "Content-Length: " + BODY.length);
            raw.send(head + "Cache-Control: " + text + "\r\n\r\n").send(BODY);
            assertThat(raw.receive().status()).isEqualTo(200);
        }
        assertThat(heard().header("Cache-Control")).isEqualTo(text);
    }

    @Test
    void aHeaderThatIsNoTextAtAllIsRefused() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send("DELETE /b/key HTTP/1.1\r\nHost: h\r\nx-amz-mfa: \u00ff\r\n\r\n");
            RawConnection.Answer answer = raw.receive();
            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.body()).contains("<Code>InvalidRequest</Code>");
        }
    }

    /** Nothing of the write that it was to be stays open: what is read next is kept. */
    @Test
    void aDeletionOfManyWithSuchAHeaderIsNoWrite() {
        try (FakeStore held = new FakeStore();
                TestGateway over = TestGateway.over(held).start()) {
            held.put("/b/key", BODY);
            String list = "<Delete><Object><Key>key</Key></Object></Delete>";
            try (RawConnection raw = new RawConnection(over.endpoint())) {
                RawConnection.Answer answer = raw
                        .send("POST /b?delete HTTP/1.1\r\nHost: h\r\nUser-Agent: \u00ff\r\n"
                                + "Content-Length: " + list.length() + "\r\n\r\n" + list)
                        .receive();
                assertThat(answer.body()).contains("<Code>InvalidRequest</Code>");
            }
            TestClient reader = over.client();
            assertThat(reader.get("/b/key").body()).isEqualTo(BODY);
            assertThat(reader.get("/b/key").headers().firstValue("x-cache"))
                    .contains("REVALIDATED");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"PUT /b/key", "GET /b/key?acl", "HEAD /b/key?partNumber=1",
            "DELETE /b/key?versionId=v", "POST /b/key?uploads", "GET /b?list-type=2",
            "PUT /b/key?uploadId=u&partNumber=1", "DELETE /b/key?uploadId=u", "PUT /b?policy"})
    void aPresignedUrlOfEveryVerbSaysTheSame(String operation) {
        String method = operation.substring(0, operation.indexOf(' '));
        String target = operation.substring(method.length() + 1);
        URI url = client.presigned(method, target, Duration.ofMinutes(5));
        HttpResponse<byte[]> answer = client.send(HttpRequest.newBuilder(url)
                .method(method, method.equals("PUT")
                        ? HttpRequest.BodyPublishers.ofByteArray(BODY)
                        : HttpRequest.BodyPublishers.noBody())
                .build());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(heard().line()).isEqualTo(method + " " + target + " HTTP/1.1");
        assertThat(heard().header("Authorization")).contains("Credential=AK/");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/src/a%2Bb%20c%25", "src/%C3%BC%2Fx?versionId=v%2B1", "/src/a+b",
            "/src/a//../b"})
    void aCopySourceArrivesAsItWasWritten(String source) {
        client.put("/b/copy", new byte[0], "x-amz-copy-source", source);
        assertThat(heard().header("x-amz-copy-source")).isEqualTo(source);
        client.put("/b/copy?partNumber=2&uploadId=u", new byte[0], "x-amz-copy-source", source);
        assertThat(heard().header("x-amz-copy-source")).isEqualTo(source);
    }
}
