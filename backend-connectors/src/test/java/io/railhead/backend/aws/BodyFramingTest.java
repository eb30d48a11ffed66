package io.railhead.backend.aws;

import static io.railhead.backend.aws.BodyFraming.AwsChunked.CHUNK_BYTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BodyFramingTest {
    private static final int ROUNDS = 40;
    private static final String CRC32 = "x-amz-checksum-crc32";
    private static final Map<String, Supplier<String>> NONE = Map.of();

    @Test
    void aPlainBodyIsTheBytes() {
        byte[] body = bytes(1000, new Random(1));
        BodyFraming bodyFraming = new BodyFraming.Plain(body.length);
        assertThat(framed(bodyFraming, body, new Random(2))).isEqualTo(body);
        assertThat(bodyFraming.encodedBytes()).isEqualTo(body.length);
    }

    @Test
    void aSmallBodyIsOneChunkAndItsTrailer() {
        BodyFraming bodyFraming = new BodyFraming.AwsChunked(5, Map.of(CRC32, () -> "NhCmhg=="));
        byte[] hello = "hello".getBytes(StandardCharsets.US_ASCII);
        String encoded = "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n";
        assertThat(framed(bodyFraming, hello, new Random(3))).asString().isEqualTo(encoded);
        assertThat(bodyFraming.encodedBytes()).isEqualTo(encoded.length());
    }

    @Test
    void anEmptyBodyIsTheLastChunkOnly() {
        BodyFraming bodyFraming = new BodyFraming.AwsChunked(0, NONE);
        assertThat(framed(bodyFraming, new byte[0], new Random(4))).asString()
                .isEqualTo("0\r\n\r\n");
        assertThat(bodyFraming.encodedBytes()).isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 15, 16, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1,
            2 * CHUNK_BYTES, 3 * CHUNK_BYTES + 17})
    void theLengthIsKnownBeforehandAndTheChunksAreTheSameHoweverTheBuffersFall(long size) {
        byte[] body = bytes((int) size, new Random(size));
        byte[] whole = framed(chunked(size), body, null);
        assertThat(chunked(size).encodedBytes()).isEqualTo(whole.length);
        assertThat(decoded(whole)).isEqualTo(body);
        for (int seed = 0; seed < 5; seed++) {
            assertThat(framed(chunked(size), body, new Random(seed))).isEqualTo(whole);
        }
    }

    @Test
    void anyLengthInAnySplitComesBackWhole() {
        Random random = new Random(2026);
        for (int round = 0; round < ROUNDS; round++) {
            byte[] body = bytes(random.nextInt((int) (3 * CHUNK_BYTES)), random);
            byte[] encoded = framed(chunked(body.length), body, random);
            assertThat(chunked(body.length).encodedBytes()).isEqualTo(encoded.length);
            assertThat(decoded(encoded)).isEqualTo(body);
        }
    }

    @Test
    void theLengthOfAFiveTebibyteBodyIsKnownToo() {
        long size = 5L << 40;
        assertThat(chunked(size).encodedBytes()).isEqualTo(size + (5L << 20) * 10 + 3
                + (CRC32 + ":NhCmhg==\r\n").length() + 2);
    }

    /** The length has gone out in the head by then. */
    @Test
    void aTrailerOfAnotherLengthIsRefused() {
        BodyFraming bodyFraming = new BodyFraming.AwsChunked(0, Map.of(CRC32, () -> "short"));
        assertThatIllegalStateException().isThrownBy(() -> bodyFraming.finish(buffer -> {}))
                .withMessageContaining(CRC32);
    }

    @Test
    void everyChecksumOfS3IsKnownAndNothingElse() {
        Map<String, Supplier<String>> all = new TreeMap<>();
        Map.of("crc32", 8, "crc32c", 8, "crc64nvme", 12, "sha1", 28, "sha256", 44)
                .forEach((name, chars) -> all.put("x-amz-checksum-" + name, () -> "x"
                        .repeat(chars)));
        assertThat(ChecksumTrailers.areAllKnown(all)).isTrue();
        assertThat(ChecksumTrailers.lines(all)).hasSize((int) ChecksumTrailers.encodedBytes(all));
        Map<String, Supplier<String>> other = Map.of("x-amz-checksum-md4", () -> "x");
        assertThat(ChecksumTrailers.areAllKnown(other)).isFalse();
        assertThatIllegalArgumentException().isThrownBy(() -> ChecksumTrailers.encodedBytes(other));
    }

    private static BodyFraming chunked(long size) {
        return new BodyFraming.AwsChunked(size, Map.of(CRC32, () -> "NhCmhg=="));
    }

    /** Random splits, empty buffers among them, or none at all. */
    private static byte[] framed(BodyFraming bodyFraming, byte[] body, @Nullable Random splits) {
        List<ByteBuffer> out = new ArrayList<>();
        int at = 0;
        while (at < body.length) {
            int length = splits == null
                    ? body.length
                    : Math.min(body.length - at, splits.nextInt(
                            (int) CHUNK_BYTES / 2));
            bodyFraming.frame(ByteBuffer.wrap(body, at, length).slice(), out::add);
            at += length;
        }
        bodyFraming.finish(out::add);
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (ByteBuffer buffer : out) {
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            joined.writeBytes(bytes);
        }
        return joined.toByteArray();
    }

    private static byte[] decoded(byte[] encoded) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        int at = 0;
        while (true) {
            int end = at;
            while (encoded[end] != '\r') {
                end++;
            }
            int size = Integer.parseInt(
                    new String(encoded, at, end - at, StandardCharsets.US_ASCII), 16);
            if (size == 0) {
                return content.toByteArray();
            }
            assertThat(size).isLessThanOrEqualTo((int) CHUNK_BYTES);
            content.write(encoded, end + 2, size);
            at = end + 2 + size + 2;
        }
    }

    private static byte[] bytes(int length, Random random) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }
}
