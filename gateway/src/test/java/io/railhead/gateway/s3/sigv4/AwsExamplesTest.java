package io.railhead.gateway.s3.sigv4;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.Headers;
import io.railhead.gateway.identity.TestCredentials;
import io.railhead.gateway.s3.body.BodyReader;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The requests and signatures that the Amazon S3 API reference publishes. */
class AwsExamplesTest {
    private static final Instant NOW = Instant.parse("2013-05-24T00:05:00Z");
    private static final String EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    private final Authenticator authenticator = new Authenticator(TestCredentials.store());

    private static Headers.Builder headers(String host, String sha256, String signedHeaders,
            String signature) {
        return Headers.builder()
                .add("Host", host)
                .add("x-amz-date", "20130524T000000Z")
                .add("x-amz-content-sha256", sha256)
                .add("Authorization", "AWS4-HMAC-SHA256 Credential=" + TestCredentials.ACCESS_KEY
                        + "/20130524/us-east-1/s3/aws4_request,SignedHeaders=" + signedHeaders
                        + ",Signature=" + signature);
    }

    private Authentication.Signed signed(RequestHead head) {
        return (Authentication.Signed) authenticator.authenticate(head, NOW);
    }

    @Test
    void getObject() {
        var headers = headers("examplebucket.s3.amazonaws.com", EMPTY,
                "host;range;x-amz-content-sha256;x-amz-date",
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
                .add("Range", "bytes=0-9")
                .build();

        var signed = signed(new RequestHead("GET", "/test.txt", null, headers));

        assertThat(signed.principal().name()).isEqualTo("alice");
        assertThat(signed.key().id()).isEqualTo(TestCredentials.ACCESS_KEY);
        assertThat(signed.scope())
                .isEqualTo(new SignatureScope("20130524", "us-east-1", "s3"));
        assertThat(signed.signedHeaders()).containsExactlyInAnyOrder("host", "range",
                "x-amz-content-sha256", "x-amz-date");
        assertThat(signed.presigned()).isFalse();
        assertThat(signed.signedAt()).isEqualTo("2013-05-24T00:00:00Z");
        assertThat(signed.payload()).isEqualTo(new PayloadSigning.Digest(EMPTY));
    }

    @Test
    void putObject() {
        var headers = headers("examplebucket.s3.amazonaws.com",
                "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
                "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
                .add("Date", "Fri, 24 May 2013 00:00:00 GMT")
                .add("x-amz-storage-class", "REDUCED_REDUNDANCY")
                .add("Content-Length", "21")
                .build();

        var signed = signed(new RequestHead("PUT", "/test%24file.text", null, headers));
        signed(new RequestHead("PUT", "/test$file.text", null, headers));

        ByteArrayOutputStream out = new ByteArrayOutputStream();
        BodyReader body = BodyReader.open(signed, headers);
        body.accept(ByteBuffer.wrap("Welcome to Amazon S3.".getBytes(US_ASCII)),
                piece -> drain(piece, out));
        assertThat(out.size()).as("before the hash is known").isZero();
        body.end(piece -> drain(piece, out));
        assertThat(out.toString(US_ASCII)).isEqualTo("Welcome to Amazon S3.");
        assertThat(body.forwardedSha256()).startsWith("44ce7dd67c");
    }

    @Test
    void getBucketLifecycle() {
        var headers = headers("examplebucket.s3.amazonaws.com", EMPTY,
                "host;x-amz-content-sha256;x-amz-date",
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543").build();

        signed(new RequestHead("GET", "/", "lifecycle", headers));
        signed(new RequestHead("GET", "/", "lifecycle=", headers));
    }

    @Test
    void listObjects() {
        var headers = headers("examplebucket.s3.amazonaws.com", EMPTY,
                "host;x-amz-content-sha256;x-amz-date",
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7").build();

        signed(new RequestHead("GET", "/", "prefix=J&max-keys=2", headers));
    }

    @Test
    void presignedGet() {
        var signed = signed(new RequestHead("GET", "/test.txt",
                "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" + TestCredentials.ACCESS_KEY
                        + "%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z"
                        + "&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
                        + "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
                Headers.builder().add("host", "examplebucket.s3.amazonaws.com").build()));

        assertThat(signed.presigned()).isTrue();
        assertThat(signed.payload()).isEqualTo(new PayloadSigning.Unsigned());
    }

    @Test
    void chunkedUpload() {
        var headers = headers("s3.amazonaws.com", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
                "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;"
                        + "x-amz-decoded-content-length;x-amz-storage-class",
                "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9")
                .add("x-amz-storage-class", "REDUCED_REDUNDANCY")
                .add("Content-Encoding", "aws-chunked")
                .add("x-amz-decoded-content-length", "66560")
                .add("Content-Length", "66824")
                .build();
        byte[] wire = wire(
                "10000;chunk-signature="
                        + "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
                65_536,
                "400;chunk-signature="
                        + "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
                1024,
                "0;chunk-signature="
                        + "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n");
        assertThat(wire).hasSize(66_824);

        var signed = signed(new RequestHead("PUT", "/examplebucket/chunkObject.txt", null,
                headers));

        assertDecodes(BodyReader.open(signed, headers), wire);
    }

    @Test
    void chunkedUploadWithTrailer() {
        var headers = headers("s3.amazonaws.com", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
                "content-encoding;host;x-amz-content-sha256;x-amz-date;"
                        + "x-amz-decoded-content-length;x-amz-storage-class;x-amz-trailer",
                "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e")
                .add("x-amz-storage-class", "REDUCED_REDUNDANCY")
                .add("Content-Encoding", "aws-chunked")
                .add("x-amz-decoded-content-length", "66560")
                .add("x-amz-trailer", "x-amz-checksum-crc32c")
                .build();
        byte[] wire = wire(
                "10000;chunk-signature="
                        + "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
                65_536,
                "400;chunk-signature="
                        + "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
                1024,
                "0;chunk-signature="
                        + "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n"
                        + "x-amz-checksum-crc32c:sOO8/Q==\r\nx-amz-trailer-signature:"
                        + "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n");

        var signed = signed(new RequestHead("PUT", "/examplebucket/chunkObject.txt", null,
                headers));
        BodyReader body = BodyReader.open(signed, headers);

        assertDecodes(body, wire);
        assertThat(body.trailerNames()).containsExactly("x-amz-checksum-crc32c");
        assertThat(body.trailerChecksum("x-amz-checksum-crc32c")).isEqualTo("sOO8/Q==");
    }

    private static byte[] wire(String first, int firstBytes, String second, int secondBytes,
            String rest) {
        return (first + "\r\n" + "a".repeat(firstBytes) + "\r\n" + second + "\r\n"
                + "a".repeat(secondBytes) + "\r\n" + rest + "\r\n").getBytes(US_ASCII);
    }

    private static void assertDecodes(BodyReader body, byte[] wire) {
        byte[] expected = new byte[66_560];
        Arrays.fill(expected, (byte) 'a');
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        body.accept(ByteBuffer.wrap(wire), piece -> drain(piece, out));
        assertThat(out.size()).isLessThan(expected.length);
        body.end(piece -> drain(piece, out));
        assertThat(out.toByteArray()).isEqualTo(expected);
        assertThat(body.decodedLength()).isEqualTo(expected.length);
        assertThat(body.forwardedSha256()).isEqualTo("UNSIGNED-PAYLOAD");
    }

    private static void drain(ByteBuffer piece, ByteArrayOutputStream out) {
        while (piece.hasRemaining()) {
            out.write(piece.get());
        }
    }
}
