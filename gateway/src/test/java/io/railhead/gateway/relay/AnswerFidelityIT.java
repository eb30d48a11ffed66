package io.railhead.gateway.relay;

import static io.railhead.gateway.TestClient.cached;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Line;
import io.railhead.backend.testing.ScriptedStore.Received;
import io.railhead.backend.testing.ScriptedStore.Script;
import io.railhead.gateway.RandomObject;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.frontdoor.RawConnection;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the client hears is what the store said, also of what is held. */
class AnswerFidelityIT {
    private static final byte[] BODY = "hello, railhead".getBytes(StandardCharsets.US_ASCII);
    /** Of one hop or one message, or ours. */
    private static final Set<String> NOT_THE_OBJECTS = Set.of("date", "x-amz-request-id",
            "x-cache", "x-railhead-request-id", "accept-ranges");

    private volatile Script script = Script.status(500, "");
    private final ScriptedStore store = new ScriptedStore(new Script() {
        @Override
        public void play(Received request, Line line) throws IOException {
            script.play(request, line);
        }

        @Override
        public boolean wantsBody(Received head) {
            return script.wantsBody(head);
        }
    });
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            backends:
              store:
                answer_timeout: 2s
                idle_timeout: 1s
                max_attempts: 1
            rules:
              - bucket: fixed
                freshness: immutable
              - freshness: strong
            """);
    private final TestClient client = gateway.client();

    /** The last such request; the gateway's own look at a store may come at any time. */
    private Received heard(String line) {
        return store.received()
                .reversed()
                .stream()
                .filter(each -> each.line().startsWith(line))
                .findFirst()
                .orElseThrow();
    }

    /** Names in lower case; fields of one name joined, as RFC 9110 §5.3 reads them. */
    private static Map<String, String> fields(HttpResponse<?> answer) {
        Map<String, String> fields = new TreeMap<>();
        answer.headers().map().forEach((name, values) -> {
            if (!NOT_THE_OBJECTS.contains(name.toLowerCase(Locale.ROOT))) {
                fields.put(name.toLowerCase(Locale.ROOT), String.join(",", values));
            }
        });
        return fields;
    }

    private Map<String, String> direct(String method, String path, String... headers)
            throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpRequest.Builder request = HttpRequest
                    .newBuilder(URI.create(store.endpoint() + path))
                    .version(HttpClient.Version.HTTP_1_1)
                    .method(method, HttpRequest.BodyPublishers.noBody());
            for (int i = 0; i < headers.length; i += 2) {
                request.header(headers[i], headers[i + 1]);
            }
            return fields(http.send(request.build(), BodyHandlers.ofByteArray()));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void whatIsHeldHasTheStoresOwnHeaders(long seed) throws Exception {
        RandomObject object = RandomObject.of(seed);
        script = object;
        for (String bucket : List.of("/fixed", "/strong")) {
            String path = bucket + "/key";
            for (String mode : List.of("ENABLED", "none")) {
                String[] asked = {"x-amz-checksum-mode", mode};
                for (int round = 0; round < 3; round++) {
                    HttpResponse<byte[]> got = client.get(path, asked);
                    assertThat(fields(got)).isEqualTo(direct("GET", path, asked));
                    assertThat(got.body()).isEqualTo(object.body());
                    HttpResponse<byte[]> head = client.head(path, asked);
                    assertThat(fields(head)).isEqualTo(direct("HEAD", path, asked));
                    HttpResponse<byte[]> part = client.get(path, "x-amz-checksum-mode", mode,
                            "Range", "bytes=3-9");
                    assertThat(fields(part)).isEqualTo(direct("GET", path, "x-amz-checksum-mode",
                            mode, "Range", "bytes=3-9"));
                    assertThat(cached(got).equals("BYPASS")).isEqualTo(!object.mayBeHeld());
                }
            }
        }
    }

    /** A store that knows the bucket's CORS rules: two origins, one of which may also write. */
    private static void playCors(Received request, Line line) throws IOException {
        String origin = request.header("Origin");
        String allowed = origin == null
                ? ""
                : "Access-Control-Allow-Origin: " + origin
                        + "\r\nAccess-Control-Expose-Headers: ETag\r\nVary: Origin\r\n";
        if (request.line().startsWith("OPTIONS")) {
            boolean may = "http://a".equals(origin)
                    && "PUT".equals(request.header("Access-Control-Request-Method"))
                    && request.header("Authorization") == null;
            line.write(may
                    ? "HTTP/1.1 200 OK\r\n" + allowed
                            + "Access-Control-Allow-Methods: GET, PUT\r\n"
                            + "Access-Control-Max-Age: 30\r\nContent-Length: 0\r\n\r\n"
                    : "HTTP/1.1 403 Forbidden\r\nContent-Length: 17\r\n\r\n<Error>no</Error>",
                    new byte[0]);
            return;
        }
        new RandomObject(List.of(allowed.split("\r\n")), BODY, true, List.of())
                .play(request, line);
    }

    @Test
    void anOriginHearsTheStoresOwnCorsHeadersAlsoOfWhatIsHeld() {
        script = AnswerFidelityIT::playCors;
        assertThat(client.get("/fixed/key").body()).isEqualTo(BODY);
        assertThat(cached(client.get("/fixed/key"))).isEqualTo("HIT");
        for (String origin : List.of("http://a", "http://b", "http://a")) {
            for (String method : List.of("GET", "HEAD")) {
                HttpResponse<byte[]> answer = client.send(method, "/fixed/key", new byte[0],
                        "Origin", origin);
                assertThat(answer.headers().allValues("access-control-allow-origin"))
                        .containsExactly(origin);
                assertThat(answer.headers().allValues("vary")).containsExactly("Origin");
            }
        }
        HttpResponse<byte[]> plain = client.get("/fixed/key");
        assertThat(cached(plain)).isEqualTo("HIT");
        assertThat(plain.headers().firstValue("access-control-allow-origin")).isEmpty();
    }

    @Test
    void aPreflightIsAnsweredByTheStoreAlone() {
        script = AnswerFidelityIT::playCors;
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            String head = String.join("\r\n", "OPTIONS /fixed/key?X-Amz-Signature=00 HTTP/1.1",
                    "Host: h", "Access-Control-Request-Method: PUT",
                    "Access-Control-Request-Headers: x-amz-meta-a", "");
            RawConnection.Answer may = raw.send(head + "Origin: http://a\r\n\r\n").receive();
            assertThat(may.status()).isEqualTo(200);
            assertThat(may.headers()).containsEntry("access-control-allow-origin", "http://a")
                    .containsEntry("access-control-allow-methods", "GET, PUT")
                    .containsEntry("access-control-max-age", "30")
                    .containsEntry("vary", "Origin");
            Received heard = heard("OPTIONS /fixed");
            assertThat(heard.header("Access-Control-Request-Headers")).isEqualTo("x-amz-meta-a");
            assertThat(heard.line()).doesNotContain("Signature");
            assertThat(raw.send(head + "Origin: http://b\r\n\r\n").receive().status())
                    .isEqualTo(403);
        }
    }

    private static final String ERROR = "<?xml version=\"1.0\"?>\n<Error><Code>Odd</Code>"
            + "<Message>m \u00c3\u00bc</Message><Extra>e</Extra><RequestId>STORE1</RequestId>"
            + "<HostId>host/1=</HostId></Error>";

    @ParameterizedTest
    @CsvSource({"GET,/b/key,403", "GET,/b/key,404", "HEAD,/b/key,404", "PUT,/b/key,412",
            "PUT,/b/key?acl,501", "DELETE,/b/key,409", "POST,/b/key?uploads,400",
            "GET,/b?list-type=2,301", "GET,/b/key,416", "PUT,/b,409", "GET,/,403"})
    void anErrorComesAsTheStoreSaidIt(String method, String target, int status) {
        script = (request, line) -> line.write("HTTP/1.1 " + status
                + " Odd\r\nContent-Type: application/xml\r\nx-amz-request-id: STORE1\r\n"
                + "x-amz-id-2: host/1=\r\nx-amz-bucket-region: eu-north-1\r\n"
                + "Location: http://elsewhere/\r\nx-amz-delete-marker: true\r\n"
                + "x-amz-version-id: v1\r\nContent-Length: " + ERROR.length() + "\r\n\r\n",
                request.line().startsWith("HEAD")
                        ? new byte[0]
                        : ERROR.getBytes(StandardCharsets.ISO_8859_1));
        HttpResponse<byte[]> answer = client.send(method, target,
                method.equals("PUT") ? BODY : new byte[0]);
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.headers().allValues("x-amz-request-id")).containsExactly("STORE1");
        assertThat(answer.headers().allValues("x-amz-id-2")).containsExactly("host/1=");
        assertThat(answer.headers().firstValue("x-amz-bucket-region")).contains("eu-north-1");
        assertThat(answer.headers().firstValue("location")).contains("http://elsewhere/");
        assertThat(answer.headers().firstValue("x-amz-delete-marker")).contains("true");
        if (!method.equals("HEAD")) {
            assertThat(new String(answer.body(), StandardCharsets.ISO_8859_1)).isEqualTo(ERROR);
        }
    }

    @ParameterizedTest
    @CsvSource({"If-None-Match,\"e\",304", "If-None-Match,*,304",
            "If-None-Match,'\"d\", \"e\"',304", "If-Match,'\"d\", \"f\"',412",
            "If-Modified-Since,'Fri, 20 Nov 2026 00:00:00 GMT',304", "If-Match,\"other\",412",
            "If-Unmodified-Since,'Fri, 20 Nov 2020 00:00:00 GMT',412", "If-Match,*,412"})
    void aConditionIsTheStoresToJudgeAlsoOfWhatIsHeld(String name, String value, int status) {
        script = new RandomObject(List.of(), BODY, true, List.of());
        client.get("/fixed/key");
        assertThat(cached(client.get("/fixed/key"))).isEqualTo("HIT");
        script = Script.answer("HTTP/1.1 " + status + " C\r\nETag: \"e\"\r\nx-amz-version-id: v"
                + (status == 304 ? "" : "\r\nContent-Length: 0"), new byte[0]);
        HttpResponse<byte[]> answer = client.get("/fixed/key", name, value);
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.headers().firstValue("x-amz-version-id")).contains("v");
        assertThat(heard("GET /fixed").header(name)).isEqualTo(value);
    }

    @Test
    void anEventStreamIsPassedOnAsItArrives() throws Exception {
        CountDownLatch heard = new CountDownLatch(1);
        script = (request, line) -> {
            line.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nevent1\r\n",
                    new byte[0]);
            if (TestGateway.await(heard)) {
                line.write("6\r\nevent2\r\n0\r\n\r\n", new byte[0]);
            }
        };
        HttpRequest select = client.signed("POST", "/b/key?select&select-type=2", BODY);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(RawConnection.head(select, "Content-Length: " + BODY.length) + "\r\n");
            raw.send(BODY);
            assertThat(raw.receiveHead().headers()).containsEntry("transfer-encoding", "chunked");
            assertThat(new String(raw.read(11))).isEqualTo("6\r\nevent1\r\n");
            heard.countDown();
            assertThat(new String(raw.read(16))).isEqualTo("6\r\nevent2\r\n0\r\n\r\n");
        }
        assertThat(heard("POST /b").body()).isEqualTo(BODY);
    }

    /** The blanks that a store sends while it copies keep the connection, not the promise. */
    @ParameterizedTest
    @ValueSource(strings = {"PUT /fixed/key", "POST /fixed/key?uploadId=u", "POST /fixed?delete"})
    void whatIsReadWhileAWriteIsStillAnsweredIsNotHeld(String operation) throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        RandomObject before = new RandomObject(List.of(), BODY, true, List.of());
        RandomObject after = new RandomObject(List.of(), "copied".getBytes(), true, List.of());
        String method = operation.substring(0, operation.indexOf(' '));
        script = (request, line) -> {
            if (!request.line().startsWith(method)) {
                before.play(request, line);
                return;
            }
            line.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n \n\r\n",
                    new byte[0]);
            if (TestGateway.await(goOn)) {
                script = after;
                line.write("7\r\n<Done/>\r\n0\r\n\r\n", new byte[0]);
            }
        };
        byte[] document = "<Delete><Object><Key>key</Key></Object></Delete>".getBytes();
        HttpRequest write = client.signed(method, operation.substring(method.length() + 1),
                method.equals("PUT") ? new byte[0] : document, method.equals("PUT")
                        ? new String[]{"x-amz-copy-source", "/fixed/source"}
                        : new String[0]);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(RawConnection.head(write, "Content-Length: "
                    + (method.equals("PUT") ? 0 : document.length)) + "\r\n");
            if (!method.equals("PUT")) {
                raw.send(document);
            }
            assertThat(raw.receiveHead().status()).isEqualTo(200);
            assertThat(new String(raw.read(7))).isEqualTo("2\r\n \n\r\n");
            for (int round = 0; round < 2; round++) {
                assertThat(client.get("/fixed/key").body()).isEqualTo(BODY);
            }
            goOn.countDown();
            assertThat(new String(raw.read(17))).isEqualTo("7\r\n<Done/>\r\n0\r\n\r\n");
        }
        assertThat(client.get("/fixed/key").body()).isEqualTo("copied".getBytes());
    }

    /** The answer to another request that is given up tells that the usual time has passed. */
    @ParameterizedTest
    @ValueSource(strings = {"before", "in"})
    void aStoreMayTakeItsTimeOverACopy(String when) throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        script = (request, line) -> {
            if (!request.line().startsWith("PUT")) {
                line.awaitClosed();
                return;
            }
            String head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n \r\n";
            if (when.equals("in")) {
                line.write(head, new byte[0]);
            }
            if (TestGateway.await(goOn)) {
                line.write((when.equals("in") ? "" : head) + "7\r\n<Done/>\r\n0\r\n\r\n",
                        new byte[0]);
            }
        };
        var copy = client.sendAsync("PUT", "/b/copy", new byte[0], "x-amz-copy-source", "/b/k");
        TestGateway.await(() -> store.received()
                .stream()
                .anyMatch(request -> request.line().startsWith("PUT")));
        assertThat(client.get("/b/silent").statusCode()).isEqualTo(503);
        goOn.countDown();
        assertThat(new String(copy.join().body())).isEqualTo(" <Done/>");
    }

    @Test
    void aCopyThatFailedAfterItsHeadIsToldAsTheStoreToldIt() {
        script = Script.answer("HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n"
                + "Content-Length: " + (ERROR.length() + 3),
                ("\n  " + ERROR)
                        .getBytes(StandardCharsets.ISO_8859_1));
        HttpResponse<byte[]> answer = client.put("/b/key", new byte[0], "x-amz-copy-source",
                "/b/source");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(new String(answer.body(), StandardCharsets.ISO_8859_1))
                .isEqualTo("\n  " + ERROR);
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 3 << 20})
    void aRefusalReachesAWaitingClientBeforeItsBody(int length) {
        script = Script.beforeBody(Script.status(403, "<Error/>"));
        byte[] body = new byte[length];
        HttpRequest put = client.signed("PUT", "/b/key", body);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(RawConnection.head(put, "Content-Length: " + length,
                    "Expect: 100-continue") + "\r\n");
            assertThat(raw.receive().status()).isEqualTo(403);
            assertThat(raw.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void aClientThatWaitsIsAskedForItsBodyOnceTheStoreWantsIt() {
        script = Script.status(200, "");
        HttpRequest put = client.signed("PUT", "/b/key", BODY);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(RawConnection.head(put, "Content-Length: " + BODY.length,
                    "Expect: 100-continue") + "\r\n");
            assertThat(raw.receive().status()).isEqualTo(100);
            assertThat(raw.send(BODY).receive().status()).isEqualTo(200);
        }
        assertThat(heard("PUT /b").body()).isEqualTo(BODY);
    }
}
