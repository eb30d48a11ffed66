package io.railhead.gateway.fill;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.ObjectVersion;
import io.railhead.gateway.fill.StoredChecksum.Crc;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.zip.Checksum;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class StoredChecksumTest {
    private static ObjectMetadata metadata(Map<String, String> headers) {
        ObjectId id = new ObjectId("store", "account", "bucket", "key", null);
        return new ObjectMetadata(new ObjectVersion(id, "\"e\"", "", 9), headers, 0, 0);
    }

    private static String header(Crc crc) {
        return "x-amz-checksum-" + crc.name().toLowerCase(Locale.ROOT);
    }

    private static long sum(Crc crc, byte[] bytes) {
        Checksum sum = new StoredChecksum(crc, 0).part();
        sum.update(ByteBuffer.wrap(bytes));
        return sum.getValue();
    }

    /** The catalogue's check values of "123456789", as S3 would send them. */
    @ParameterizedTest
    @CsvSource({"CRC32C, e3069283", "CRC32, cbf43926", "CRC64NVME, ae8b14860a799888"})
    void isReadAsStoresSendIt(Crc crc, String hex) {
        String base64 = Base64.getEncoder().encodeToString(HexFormat.of().parseHex(hex));
        long[] sums = {sum(crc, "123456789".getBytes(US_ASCII))};
        StoredChecksum stored = Objects.requireNonNull(
                StoredChecksum.of(metadata(Map.of(header(crc), base64))));
        assertThat(stored.crc()).isEqualTo(crc);
        assertThat(stored.isOf(sums, 64, 9)).isTrue();
        assertThat(StoredChecksum.of(metadata(
                Map.of(header(crc), base64, "x-amz-checksum-type", "FULL_OBJECT"))))
                .isEqualTo(stored);
    }

    @ParameterizedTest
    @ValueSource(strings = {"4waSgw==-2", "4waSg", "", "!", "4waSgwAA"})
    void whatIsNoSumOfAWholeObjectIsNone(String value) {
        assertThat(StoredChecksum.of(metadata(Map.of("x-amz-checksum-crc32c", value)))).isNull();
    }

    @Test
    void aSumOfSumsIsNone() {
        assertThat(StoredChecksum.of(metadata(Map.of("x-amz-checksum-crc32c", "4waSgw==",
                "x-amz-checksum-type", "COMPOSITE")))).isNull();
        assertThat(StoredChecksum.of(metadata(Map.of("x-amz-checksum-sha256", "4waSgw=="))))
                .isNull();
    }

    @ParameterizedTest
    @EnumSource(Crc.class)
    void partsOfAnySizeMakeTheWhole(Crc crc) {
        Random random = new Random(7);
        for (int round = 0; round < 300; round++) {
            byte[] bytes = new byte[1 + random.nextInt(3000)];
            random.nextBytes(bytes);
            StoredChecksum stored = new StoredChecksum(crc, sum(crc, bytes));
            int part = 1 + random.nextInt(bytes.length);
            long[] sums = new long[Math.ceilDiv(bytes.length, part)];
            Arrays.setAll(sums, i -> sum(crc,
                    Arrays.copyOfRange(bytes, i * part, Math.min((i + 1) * part, bytes.length))));
            int last = bytes.length - (sums.length - 1) * part;
            assertThat(stored.isOf(sums, part, last)).as("round %s", round).isTrue();
            sums[random.nextInt(sums.length)] ^= 1L << random.nextInt(32);
            assertThat(stored.isOf(sums, part, last)).as("round %s, a bit", round).isFalse();
        }
    }
}
