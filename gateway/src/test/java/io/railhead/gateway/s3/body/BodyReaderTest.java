package io.railhead.gateway.s3.body;

import static io.railhead.gateway.s3.sigv4.SdkRequests.NOW;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.backend.Headers;
import io.railhead.gateway.identity.TestCredentials;
import io.railhead.gateway.s3.Digests;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.Authenticator;
import io.railhead.gateway.s3.sigv4.SdkRequests;
import io.railhead.gateway.s3.sigv4.SdkRequests.Wire;
import io.railhead.gateway.s3.sigv4.SigningTime;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.checksums.DefaultChecksumAlgorithm;
import software.amazon.awssdk.checksums.spi.ChecksumAlgorithm;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner;

/**
 * Every framing against every way to break it; one class, because each framing goes through the
 * same table of faults.
 */
class BodyReaderTest {
    private static final Authentication ANONYMOUS = new Authentication.Anonymous();

    private final Authenticator authenticator = new Authenticator(TestCredentials.store());

    /** The framings, as the SDK is asked for them. */
    enum Sdk {
        HASHED(true, false, ""),
        UNSIGNED(false, false, ""),
        CHUNKS(true, true, ""),
        CHUNKS_CRC32(
                true, true, "CRC32"),
        CHUNKS_SHA256(true, true, "SHA256"),
        UNSIGNED_CRC32(false,
                true, "CRC32"),
        UNSIGNED_CRC32C(false, true, "CRC32C"),
        UNSIGNED_SHA1(false,
                true, "SHA1"),
        HASHED_CRC32(true, false, "CRC32");

        private final boolean signed;
        private final boolean chunked;
        private final String checksum;

        Sdk(boolean signed, boolean chunked, String checksum) {
            this.signed = signed;
            this.chunked = chunked;
            this.checksum = checksum;
        }

        private ChecksumAlgorithm algorithm() {
            return switch (checksum) {
                case "CRC32" -> DefaultChecksumAlgorithm.CRC32;
                case "CRC32C" -> DefaultChecksumAlgorithm.CRC32C;
                case "SHA1" -> DefaultChecksumAlgorithm.SHA1;
                default -> DefaultChecksumAlgorithm.SHA256;
            };
        }

        Wire put(byte[] body) {
            return SdkRequests.sign(SdkHttpMethod.PUT, "/b/k",
                    Map.of("Content-Length", Integer.toString(body.length)), body, options -> {
                        options.putProperty(AwsV4FamilyHttpSigner.PAYLOAD_SIGNING_ENABLED, signed)
                                .putProperty(AwsV4FamilyHttpSigner.CHUNK_ENCODING_ENABLED,
                                        chunked);
                        if (!checksum.isEmpty()) {
                            options.putProperty(AwsV4FamilyHttpSigner.CHECKSUM_ALGORITHM,
                                    algorithm());
                        }
                    });
        }
    }

    private static byte[] random(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private BodyReader open(Wire wire) {
        return BodyReader.open(authenticator.authenticate(wire.head(), NOW),
                wire.head().headers());
    }

    /** Feeds the body whole, or in pieces of random size. */
    private static byte[] read(BodyReader reader, byte[] body, Random random) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Consumer<ByteBuffer> sink = piece -> {
            byte[] bytes = new byte[piece.remaining()];
            piece.get(bytes);
            out.writeBytes(bytes);
        };
        int at = 0;
        while (at < body.length) {
            int length = Math.min(body.length - at,
                    random.nextInt(4) == 0 ? random.nextInt(5) : random.nextInt(100_000));
            reader.accept(ByteBuffer.wrap(Arrays.copyOfRange(body, at, at + length)), sink);
            at += length;
        }
        reader.end(sink);
        return out.toByteArray();
    }

    private static S3Refusal refusal(BodyReader reader, byte[] body) {
        int[] released = new int[1];
        S3Refusal e = catchThrowableOfType(S3Refusal.class, () -> {
            reader.accept(ByteBuffer.wrap(body), piece -> released[0] += piece.remaining());
            reader.end(piece -> released[0] += piece.remaining());
        });
        assertThat(e).isNotNull();
        if (reader.decodedLength() > 0) {
            assertThat(released[0]).isLessThan(Math.toIntExact(reader.decodedLength()));
        }
        assertThat(catchThrowableOfType(S3Refusal.class, () -> reader.end(piece -> {})))
                .as("refuses from then on")
                .isSameAs(e);
        return e;
    }

    private static Headers headers(String... namesAndValues) {
        Headers.Builder headers = Headers.builder();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            headers.add(namesAndValues[i], namesAndValues[i + 1]);
        }
        return headers.build();
    }

    @ParameterizedTest
    @EnumSource
    void whatTheSdkSendsIsReadHoweverItIsSplit(Sdk sdk) {
        for (int length : new int[]{0, 1, 100, 131_072, 300_001}) {
            byte[] body = random(length, length);
            Wire wire = sdk.put(body);
            for (long seed = 0; seed < 20; seed++) {
                BodyReader reader = open(wire);
                assertThat(read(reader, wire.body(), new Random(seed)))
                        .as("%s bytes, seed %s", length, seed)
                        .isEqualTo(body);
                assertThat(reader.decodedLength()).isEqualTo(length);
                for (String name : reader.trailerNames()) {
                    assertThat(reader.trailerChecksum(name)).isNotEmpty();
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"HASHED,x", "CHUNKS,chunk-signature=", "CHUNKS_CRC32,x-amz-trailer-signature:",
            "UNSIGNED_CRC32,x-amz-checksum-crc32:"})
    void theSdkReallyUsesTheFraming(Sdk sdk, String mark) {
        Wire wire = sdk.put("x".getBytes(US_ASCII));
        assertThat(new String(wire.body(), US_ASCII)).contains(mark);
    }

    @ParameterizedTest
    @EnumSource(names = "UNSIGNED", mode = EnumSource.Mode.EXCLUDE)
    void anyFlippedBitIsRefusedBeforeTheLastByteIsOut(Sdk sdk) {
        byte[] body = random(200_000, 7);
        Wire wire = sdk.put(body);
        Random random = new Random(11);
        for (int i = 0; i < 60; i++) {
            byte[] tampered = wire.body().clone();
            // Framing is rare among the bytes, so half of the hits aim at it.
            int at = i % 2 == 0
                    ? random.nextInt(tampered.length)
                    : random.nextBoolean()
                            ? random.nextInt(80)
                            : tampered.length - 1 - random.nextInt(Math.min(200, tampered.length));
            tampered[at] ^= (byte) (1 << random.nextInt(8));
            if (isHarmless(wire.body(), tampered, at)) {
                continue;
            }
            BodyReader reader = open(wire);
            assertThat(refusal(reader, tampered).error().status()).as("%s at %s", sdk, at)
                    .isBetween(400, 403);
        }
    }

    /** The case of a hex size or a trailer's name says nothing, nor do blanks around its value. */
    private static boolean isHarmless(byte[] body, byte[] tampered, int at) {
        return Character.toLowerCase(body[at]) == Character.toLowerCase(tampered[at])
                || body[at] == '\r';
    }

    @ParameterizedTest
    @EnumSource
    void aBodyCutOffAnywhereIsIncomplete(Sdk sdk) {
        Wire wire = sdk.put(random(70_000, 3));
        Random random = new Random(5);
        for (int i = 0; i < 20; i++) {
            int length = i < 3 ? wire.body().length - 1 - i : random.nextInt(wire.body().length);
            S3Refusal e = refusal(open(wire), Arrays.copyOf(wire.body(), length));
            assertThat(e.error()).as("%s cut to %s", sdk, length)
                    .isEqualTo(S3Error.INCOMPLETE_BODY);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aBodyThatGoesOnIsRefused(Sdk sdk) {
        Wire wire = sdk.put(random(70_000, 3));
        byte[] longer = Arrays.copyOf(wire.body(), wire.body().length + 5);
        assertThat(refusal(open(wire), longer).error())
                .isEqualTo(S3Error.INCOMPLETE_BODY);
    }

    @ParameterizedTest
    @ValueSource(strings = {"crc32 y/Q5Jg==", "crc32c 4waSgw==", "crc64nvme rosUhgp5mIg=",
            "sha1 98O8HYCOBHMq1Yqmk/PYZmRgYEo=",
            "sha256 FeKw0FDj8U7fQ6v7BUfAxtAbYcTKYtrCqiaK0j5BMe4=",
            "sha512 2eZ2LdHI6vbWGzxhkvxAjU1tXxF20MKRabwk5xw/J0rSf81YEbMT1oH35V7ALXPUmclUVba1u1A6z1dPuo/+hQ==",
            "md5 JfnnlDI7RTiF9RgfG2JNCw==", "xxhash64 jLhB20DmroM=", "xxhash3 ctyxi2ehff8=",
            "xxhash128 MxGUd+3l3NXpcWQnaB1YYA=="})
    void everyChecksumIsVerifiedInHeaderAndTrailer(String nameAndValue) {
        int blank = nameAndValue.indexOf(' ');
        String name = "x-amz-checksum-" + nameAndValue.substring(0, blank);
        String right = nameAndValue.substring(blank + 1);
        String wrong = Base64.getEncoder()
                .encodeToString(
                        new byte[Base64.getDecoder().decode(right).length]);
        byte[] digits = "123456789".getBytes(US_ASCII);
        Random random = new Random(1);

        if (name.endsWith("sha1") || name.endsWith("sha256")) {
            right = Base64.getEncoder()
                    .encodeToString(
                            Digests.of(name.endsWith("sha1") ? "SHA-1" : "SHA-256").digest(digits));
        }
        assertThat(read(BodyReader.open(ANONYMOUS, headers("Content-Length", "9", name, right)),
                digits, random)).isEqualTo(digits);
        assertThat(refusal(BodyReader.open(ANONYMOUS,
                headers("Content-Length", "9", name, wrong)), digits).error())
                .isEqualTo(S3Error.BAD_DIGEST);
        assertThat(read(BodyReader.open(ANONYMOUS, headers("Content-Length", "9", name, "AAA=")),
                digits, random)).as("the store's to refuse").isEqualTo(digits);
        assertThat(refusal(trailing(name), trailed(name + ":AAA=\r\n")).error())
                .isEqualTo(S3Error.INVALID_REQUEST);

        BodyReader trailing = trailing(name);
        assertThat(read(trailing, trailed(name + ':' + right + "\r\n"), random))
                .isEqualTo(digits);
        assertThat(trailing.trailerChecksum(name)).isEqualTo(right);
        assertThat(refusal(trailing(name), trailed(name + ':' + wrong + "\r\n")).error())
                .isEqualTo(S3Error.BAD_DIGEST);
    }

    private static BodyReader trailing(String trailer) {
        return BodyReader.open(ANONYMOUS, headers("x-amz-content-sha256",
                "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "x-amz-decoded-content-length", "9",
                "x-amz-trailer", trailer));
    }

    private static byte[] trailed(String trailer) {
        return ("9\r\n123456789\r\n0\r\n" + trailer + "\r\n").getBytes(US_ASCII);
    }

    @ParameterizedTest
    @ValueSource(strings = {"x-amz-checksum-crc32:y/Q5Jg==\n\r\n",
            "X-Amz-Checksum-CRC32 : y/Q5Jg==\r\n"})
    void trailersAsOtherClientsWriteThem(String trailer) {
        assertThat(read(trailing("x-amz-checksum-crc32"), trailed(trailer), new Random(1)))
                .hasSize(9);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x-amz-checksum-crc32c:4waSgw==\r\n", "nonsense\r\n",
            "x-amz-checksum-crc32:y/Q5Jg==\r\nx-amz-checksum-crc32:y/Q5Jg==\r\n",
            "x-amz-checksum-crc32:y/Q5Jg==\r\nx-amz-meta-a:b\r\n"})
    void trailersMustBeThoseAnnounced(String trailer) {
        assertThat(refusal(trailing("x-amz-checksum-crc32"), trailed(trailer)).error())
                .isEqualTo(S3Error.MALFORMED_TRAILER);
    }

    @Test
    void trailersAndLinesAreBounded() {
        assertThat(refusal(trailing("x-amz-checksum-crc32"),
                trailed("x-amz-checksum-crc32:" + "A".repeat(9000) + "\r\n")).error())
                .isEqualTo(S3Error.MALFORMED_TRAILER);
        assertThat(refusal(trailing("x-amz-checksum-crc32"),
                "1".repeat(20_000).getBytes(US_ASCII)).error())
                .isEqualTo(S3Error.INCOMPLETE_BODY);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\r\n", "x\r\n", "-1\r\n", "50000000001\r\n", "ffffffffffffffff\r\n",
            "10000000000000000\r\n", "9\n123456789", "8\r\n123456789\r\n",
            "9\r\n123456789x\r\n"})
    void malformedChunksAreRefused(String body) {
        assertThat(refusal(trailing("x-amz-checksum-crc32"), body.getBytes(US_ASCII)).error())
                .isEqualTo(S3Error.INCOMPLETE_BODY);
    }

    /** Go's and Rust's SDKs send a body whose length they know as one chunk. */
    @Test
    void aChunkMayHoldTheWholeBody() {
        byte[] body = random((16 << 20) + 1, 7);
        byte[] head = "1000001\r\n".getBytes(US_ASCII);
        byte[] end = "\r\n0\r\n\r\n".getBytes(US_ASCII);
        byte[] framed = ByteBuffer.allocate(head.length + body.length + end.length)
                .put(head)
                .put(body)
                .put(end)
                .array();
        BodyReader reader = BodyReader.open(ANONYMOUS, headers("x-amz-content-sha256",
                "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "x-amz-decoded-content-length",
                Integer.toString(body.length)));
        assertThat(read(reader, framed, new Random(7))).isEqualTo(body);
    }

    @Test
    void theDeclaredHashIsVerified() {
        Headers headers = headers("x-amz-content-sha256", "0".repeat(64));
        assertThat(refusal(BodyReader.open(ANONYMOUS, headers), new byte[]{1}).error())
                .isEqualTo(S3Error.CONTENT_SHA256_MISMATCH);
        assertThat(BodyReader.open(ANONYMOUS, headers).forwardedSha256())
                .isEqualTo("0".repeat(64));
    }

    @Test
    void contentMd5IsVerified() {
        byte[] body = "hello".getBytes(US_ASCII);
        String right = Base64.getEncoder().encodeToString(Digests.of("MD5").digest(body));
        assertThat(read(BodyReader.open(ANONYMOUS, headers("Content-MD5", right)), body,
                new Random(1))).isEqualTo(body);
        assertThat(refusal(BodyReader.open(ANONYMOUS, headers("Content-MD5", right)),
                new byte[3]).error()).isEqualTo(S3Error.BAD_DIGEST);
        assertThat(openRefusal("Content-MD5", "x")).isEqualTo(S3Error.INVALID_DIGEST);
    }

    private static S3Error openRefusal(String... namesAndValues) {
        S3Refusal e = catchThrowableOfType(S3Refusal.class,
                () -> BodyReader.open(ANONYMOUS, headers(namesAndValues)));
        assertThat(e).isNotNull();
        return e.error();
    }

    @Test
    void headersThatContradictEachOtherAreRefused() {
        assertThat(openRefusal("x-amz-checksum-crc32", "y/Q5Jg==", "x-amz-checksum-crc32c",
                "4waSgw==")).isEqualTo(S3Error.INVALID_REQUEST);
        assertThat(openRefusal("x-amz-trailer", "x-amz-checksum-crc32"))
                .isEqualTo(S3Error.INVALID_REQUEST);
        String trailing = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
        assertThat(openRefusal("x-amz-content-sha256", trailing))
                .isEqualTo(S3Error.MISSING_CONTENT_LENGTH);
        assertThat(openRefusal("x-amz-content-sha256", trailing, "x-amz-decoded-content-length",
                "1", "x-amz-trailer", "x-amz-meta-a")).isEqualTo(S3Error.INVALID_REQUEST);
        assertThat(openRefusal("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
                "x-amz-decoded-content-length", "1")).isEqualTo(S3Error.INVALID_REQUEST);
        for (String length : List.of("-1", "1x", "", "9999999999999999999")) {
            assertThat(openRefusal("Content-Length", length))
                    .isEqualTo(S3Error.INVALID_ARGUMENT);
        }
    }

    @Test
    void checksumsOfTheObjectAreNotTheBodys() {
        BodyReader reader = BodyReader.openWithoutChecksums(ANONYMOUS,
                headers("x-amz-checksum-crc32", "AAAAAA=="));
        assertThat(read(reader, "<xml/>".getBytes(US_ASCII), new Random(1))).hasSize(6);
    }

    @Test
    void aLengthThatNobodyDeclaredIsUnknown() {
        assertThat(BodyReader.open(ANONYMOUS, Headers.NONE).decodedLength()).isEqualTo(-1);
    }

    static Stream<Integer> chunkSizes() {
        return Stream.of(1000, AwsChunked.MAX_WITHHELD_BYTES, AwsChunked.MAX_WITHHELD_BYTES + 1,
                3 << 20);
    }

    @ParameterizedTest
    @MethodSource("chunkSizes")
    void aSignedChunksEndIsWithheldUntilItsSignatureHeld(int size) {
        Wire wire = Sdk.CHUNKS.put(new byte[0]);
        var seed = (Authentication.Signed) authenticator.authenticate(wire.head(), NOW);
        byte[] chunk = random(size, size);
        byte[] body = signedBody(seed, chunk);
        Headers headers = headers("x-amz-decoded-content-length", Integer.toString(size));

        assertThat(read(BodyReader.open(seed, headers), body, new Random(2))).isEqualTo(chunk);

        body[100 + size / 2] ^= 1;
        BodyReader reader = BodyReader.open(seed, headers);
        int[] released = new int[1];
        S3Refusal e = catchThrowableOfType(S3Refusal.class, () -> {
            for (int at = 0; at < body.length; at += 10_000) {
                reader.accept(ByteBuffer.wrap(body, at, Math.min(10_000, body.length - at)),
                        piece -> released[0] += piece.remaining());
            }
        });
        assertThat(requireNonNull(e).error()).isEqualTo(S3Error.SIGNATURE_DOES_NOT_MATCH);
        if (size <= AwsChunked.MAX_WITHHELD_BYTES) {
            assertThat(released[0]).isZero();
        } else {
            assertThat(released[0]).isPositive().isLessThan(size);
        }
    }

    private static byte[] signedBody(Authentication.Signed seed, byte[] chunk) {
        String empty = HexFormat.of().formatHex(Digests.sha256().digest());
        String prefix = "AWS4-HMAC-SHA256-PAYLOAD\n" + SigningTime.format(seed.signedAt()) + '\n'
                + seed.scope() + '\n';
        String first = HexFormat.of()
                .formatHex(seed.signingKey()
                        .sign(prefix + seed.signature() + '\n' + empty
                                + '\n' + HexFormat.of().formatHex(Digests.sha256().digest(chunk))));
        String last = HexFormat.of()
                .formatHex(seed.signingKey().sign(prefix + first + '\n' + empty + '\n' + empty));
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        body.writeBytes((Integer.toHexString(chunk.length) + ";chunk-signature=" + first + "\r\n")
                .getBytes(US_ASCII));
        body.writeBytes(chunk);
        body.writeBytes(("\r\n0;chunk-signature=" + last + "\r\n\r\n").getBytes(US_ASCII));
        return body.toByteArray();
    }
}
