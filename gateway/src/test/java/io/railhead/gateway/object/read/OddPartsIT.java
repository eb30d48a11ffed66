package io.railhead.gateway.object.read;

import static io.railhead.backend.testing.ScriptedStore.Script.answer;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.ScriptedStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A store whose parts are not what was asked for: a client gets what it asked for, or no success.
 */
class OddPartsIT {
    private static final String CHUNKED = "Transfer-Encoding: chunked\r\n";
    private static final String ETAG = "ETag: \"e\"\r\n";

    private final AtomicReference<ScriptedStore.Script> script = new AtomicReference<>();
    private final ScriptedStore store = new ScriptedStore(
            (request, line) -> script.get().play(request, line));
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rules:
              - bucket: uncached
                cache: off
            """);
    private final TestClient client = gateway.client();

    private void storeSays(String headers, String body) {
        script.set(answer("HTTP/1.1 206 Partial Content\r\n" + ETAG + headers.stripTrailing(),
                body.getBytes(StandardCharsets.US_ASCII)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Content-Range: bytes 0-4\r\n", "Content-Range: bytes 0-4/100\r\n",
            "Content-Range: bytes 1-5/100\r\n", "Content-Range: bytes 0-4/*\r\n"})
    void aPartThatIsAnotherThanAskedForOrDoesNotSayWhichItIs(String contentRange) {
        storeSays(contentRange + "Content-Length: 5", "01234");
        assertThat(client.get("/uncached/key", "Range", "bytes=0-9").statusCode()).isEqualTo(503);
    }

    @ParameterizedTest
    @CsvSource({"bytes=0-9,0-9", "bytes=-3,97-99", "bytes=95-,95-99", "bytes=95-200,95-99"})
    void aPartThatIsTheOneAskedFor(String range, String part) {
        String[] ends = part.split("-", 2);
        int length = Integer.parseInt(ends[1]) - Integer.parseInt(ends[0]) + 1;
        storeSays("Content-Range: bytes " + part + "/100\r\nContent-Length: " + length,
                "0123456789".substring(0, length));
        assertThat(client.get("/uncached/key", "Range", range).statusCode()).isEqualTo(206);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Content-Range: bytes 0-4/100\r\n"})
    void aPartWhereTheWholeWasAskedFor(String contentRange) {
        storeSays(contentRange + "Content-Length: 5", "01234");
        assertThat(client.get("/uncached/key").statusCode()).isEqualTo(503);
    }

    @Test
    void aPartByItsNumber() {
        storeSays("Content-Range: bytes 5-9/100\r\nContent-Length: 5", "56789");
        HttpResponse<byte[]> answer = client.get("/uncached/key?partNumber=2");
        assertThat(answer.statusCode()).isEqualTo(206);
        assertThat(answer.body()).asString().isEqualTo("56789");
    }

    @Test
    void severalPartsAtOnceAreTheStores() {
        storeSays("Content-Type: multipart/byteranges; boundary=b\r\nContent-Length: 5", "parts");
        assertThat(client.get("/uncached/key", "Range", "bytes=0-1,5-6").body()).asString()
                .isEqualTo("parts");
    }

    @Test
    void aPartInChunksHasItsLength() {
        storeSays("Content-Range: bytes 0-9/100\r\n" + CHUNKED, "a\r\n0123456789\r\n0\r\n\r\n");
        HttpResponse<byte[]> answer = client.get("/uncached/key", "Range", "bytes=0-9");
        assertThat(answer.body()).asString().isEqualTo("0123456789");
        assertThat(answer.headers().firstValue("content-length")).hasValue("10");
    }

    @ParameterizedTest
    @ValueSource(strings = {"5\r\n01234\r\n0\r\n\r\n", "f\r\n0123456789extra\r\n0\r\n\r\n"})
    void chunksThatAreFewerOrMoreThanTheirPart(String chunks) {
        storeSays("Content-Range: bytes 0-9/100\r\n" + CHUNKED, chunks);
        TestClient.assertGivenUp(
                client.sendAsync("GET", "/uncached/key", new byte[0], "Range", "bytes=0-9"));
    }

    @Test
    void whatComesBehindThePartIsInNoAnswer() {
        storeSays("Content-Range: bytes 0-9/100\r\n" + CHUNKED,
                "a\r\n0123456789\r\n5\r\nextra\r\n0\r\n\r\n");
        for (int i = 0; i < 3; i++) {
            assertThat(client.get("/uncached/key", "Range", "bytes=0-9").body()).asString()
                    .isEqualTo("0123456789");
        }
    }

    /** The gateway asks for its pages, whatever its client wants. */
    @ParameterizedTest
    @ValueSource(ints = {203, 226, 299})
    void aSuccessOfAnotherKindForThePagesIsNotTheClients(int status) {
        script.set((request, line) -> {
            boolean ofPages = request.header("Range") != null;
            String body = ofPages ? "01234" : "0123456789";
            answer("HTTP/1.1 " + (ofPages ? status : 200) + " Odd\r\n" + ETAG + "Content-Length: "
                    + body.length(), body.getBytes(StandardCharsets.US_ASCII)).play(request, line);
        });
        HttpResponse<byte[]> answer = client.get("/b/key");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).asString().isEqualTo("0123456789");
    }
}
