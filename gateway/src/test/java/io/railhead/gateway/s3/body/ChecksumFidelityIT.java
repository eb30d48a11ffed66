package io.railhead.gateway.s3.body;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Received;
import io.railhead.backend.testing.ScriptedStore.Script;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.frontdoor.RawConnection;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checksums of every algorithm, in headers and in trailers: verified here, and told to the store as
 * far as it understands them. The values are those of "123456789", from the algorithms' own tables.
 */
class ChecksumFidelityIT {
    private static final String CHECKED = "123456789";
    private static final byte[] BODY = CHECKED.getBytes(StandardCharsets.US_ASCII);
    private static final String KNOWING = "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 0"
            + "\r\nx-amz-checksum-crc64nvme: rosUhgp5mIg=";

    private volatile Script script = Script.answer(
            "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 0", new byte[0]);
    private final ScriptedStore store = new ScriptedStore(
            (request, line) -> script.play(request, line));
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store);
    private final TestClient client = gateway.client();

    /** The last whole request; the store notices a cut one late, perhaps after the next. */
    private Received heard() {
        return store.received()
                .stream()
                .filter(request -> request.line().contains(" /b") && isWhole(request))
                .reduce((first, second) -> second)
                .orElseThrow();
    }

    private static boolean isWhole(Received request) {
        String length = request.header("Content-Length");
        return length == null || Integer.parseInt(length) == request.body().length;
    }

    @ParameterizedTest
    @CsvSource({"x-amz-checksum-crc32,y/Q5Jg==", "x-amz-checksum-crc32c,4waSgw==",
            "x-amz-checksum-crc64nvme,rosUhgp5mIg=",
            "x-amz-checksum-sha1,98O8HYCOBHMq32eZZczDTKeuNEE=",
            "x-amz-checksum-sha256,FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU="})
    void aChecksumInAHeaderIsVerifiedAndToldAsItWas(String name, String value) {
        for (String target : new String[]{"/b/key", "/b/key?partNumber=1&uploadId=u"}) {
            assertThat(client.put(target, BODY, name, value, "x-amz-checksum-type",
                    "FULL_OBJECT").statusCode()).isEqualTo(200);
            assertThat(heard().header(name)).isEqualTo(value);
            assertThat(heard().header("x-amz-checksum-type")).isEqualTo("FULL_OBJECT");
            assertThat(heard().body()).isEqualTo(BODY);
            HttpResponse<byte[]> wrong = client.put(target, "12345678x".getBytes(), name, value);
            assertThat(wrong.statusCode()).isEqualTo(400);
            assertThat(new String(wrong.body())).contains("<Code>BadDigest</Code>");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"COMPOSITE", "FULL_OBJECT"})
    void theChecksumOfACompletionIsTheObjectsAndPassesUntouched(String type) {
        String sum = type.equals("COMPOSITE") ? "AAAAAA==-2" : "AAAAAA==";
        client.send("POST", "/b/key?uploads", new byte[0], "x-amz-checksum-algorithm", "CRC32",
                "x-amz-checksum-type", type);
        assertThat(heard().header("x-amz-checksum-type")).isEqualTo(type);
        byte[] document = "<CompleteMultipartUpload/>".getBytes();
        assertThat(client.send("POST", "/b/key?uploadId=u", document, "x-amz-checksum-crc32", sum,
                "x-amz-checksum-type", type, "x-amz-mp-object-size", "9").statusCode())
                .isEqualTo(200);
        assertThat(heard().header("x-amz-checksum-crc32")).isEqualTo(sum);
        assertThat(heard().header("x-amz-checksum-type")).isEqualTo(type);
        assertThat(heard().header("x-amz-mp-object-size")).isEqualTo("9");
        assertThat(heard().body()).isEqualTo(document);
    }

    private RawConnection.Answer putWithTrailer(String name, String value) {
        String body = "4\r\n1234\r\n5\r\n56789\r\n0\r\n" + name + ":" + value + "\r\n\r\n";
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            return raw.send("PUT /b/key HTTP/1.1\r\nHost: h\r\nContent-Length: " + body.length()
                    + "\r\nx-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\r\n"
                    + "x-amz-trailer: " + name + "\r\nx-amz-decoded-content-length: 9\r\n"
                    + "x-amz-sdk-checksum-algorithm: "
                    + name.replace("x-amz-checksum-", "").toUpperCase(Locale.ROOT)
                    + "\r\nContent-Encoding: aws-chunked,gzip\r\n\r\n" + body).receive();
        }
    }

    @ParameterizedTest
    @CsvSource({"x-amz-checksum-crc32,y/Q5Jg==", "x-amz-checksum-crc32c,4waSgw==",
            "x-amz-checksum-crc64nvme,rosUhgp5mIg=",
            "x-amz-checksum-sha1,98O8HYCOBHMq32eZZczDTKeuNEE=",
            "x-amz-checksum-sha256,FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU="})
    void aChecksumInATrailerReachesAStoreThatKnowsChecksums(String name, String value) {
        script = Script.answer(KNOWING, new byte[0]);
        client.put("/b/first", BODY);
        assertThat(putWithTrailer(name, value).status()).isEqualTo(200);
        assertThat(new String(heard().body())).isEqualTo(
                "9\r\n" + CHECKED + "\r\n0\r\n" + name + ":" + value + "\r\n\r\n");
        assertThat(heard().header("x-amz-trailer")).isEqualTo(name);
        assertThat(heard().header("x-amz-decoded-content-length")).isEqualTo("9");
        assertThat(heard().header("Content-Encoding")).isEqualTo("aws-chunked,gzip");
        assertThat(heard().header("x-amz-sdk-checksum-algorithm")).isNotNull();
        assertThat(putWithTrailer(name, "AAAA" + value.substring(4)).status()).isEqualTo(400);
    }

    @ParameterizedTest
    @CsvSource({"forward,true", "drop,false"})
    void whatIsConfiguredOfTrailersHoldsWhateverTheStoreShows(String trailers, boolean sent) {
        gateway.restart("backends: {store: {trailers: " + trailers + "}}");
        for (int round = 0; round < 2; round++) {
            assertThat(putWithTrailer("x-amz-checksum-crc32", "y/Q5Jg==").status())
                    .isEqualTo(200);
            assertThat(heard().header("x-amz-trailer") != null).isEqualTo(sent);
            script = Script.answer(KNOWING, new byte[0]);
            client.put("/b/first", BODY);
        }
    }

    @Test
    void aStoreThatWasNeverSeenToKnowChecksumsGetsThePlainBody() {
        assertThat(putWithTrailer("x-amz-checksum-crc32", "y/Q5Jg==").status()).isEqualTo(200);
        assertThat(heard().body()).isEqualTo(BODY);
        assertThat(heard().header("x-amz-trailer")).isNull();
        assertThat(heard().header("x-amz-sdk-checksum-algorithm")).isNull();
        assertThat(heard().header("Content-Encoding")).isEqualTo("gzip");
        assertThat(putWithTrailer("x-amz-checksum-crc32", "AAAAAA==").status()).isEqualTo(400);
    }
}
