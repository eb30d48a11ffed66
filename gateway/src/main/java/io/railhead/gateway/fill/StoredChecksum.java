package io.railhead.gateway.fill;

import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.WholeChecksum;
import io.railhead.gateway.s3.body.Crc64Nvme;
import java.math.BigInteger;
import java.util.Base64;
import java.util.Locale;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * The CRC that a store holds of a whole object: S3's {@code x-amz-checksum-*} of the type
 * {@code FULL_OBJECT}. CRCs of parts are combined as zlib's {@code crc32_combine} does, in any
 * width. Each part's CRC is multiplied by x to the number of bits behind it, modulo the polynomial.
 */
public record StoredChecksum(Crc crc, long value) implements WholeChecksum {
    private static final String HEADER = "x-amz-checksum-";

    /**
     * The supported CRCs, the fastest first: reflected, starting with all ones, inverted at the
     * end.
     */
    public enum Crc {
        CRC32C(32, 0x82F63B78L),
        CRC32(32, 0xEDB88320L),
        CRC64NVME(64, 0x9A6C9329AC4BC9B5L);

        private final int bits;
        private final long polynomial;

        Crc(int bits, long polynomial) {
            this.bits = bits;
            this.polynomial = polynomial;
        }

        /** Multiplies two polynomials, in which the highest bit stands for x to the power of 0. */
        private long times(long a, long b) {
            long product = 0;
            long shifted = b;
            for (int bit = bits - 1; bit >= 0; bit--) {
                if ((a >>> bit & 1) != 0) {
                    product ^= shifted;
                }
                shifted = (shifted & 1) == 0 ? shifted >>> 1 : (shifted >>> 1) ^ polynomial;
            }
            return product;
        }

        private long xToTheBitsOf(long bytes) {
            long power = 1L << (bits - 1);
            long square = 1L << (bits - 2);
            for (long exponent = bytes * 8; exponent > 0; exponent >>>= 1) {
                if ((exponent & 1) != 0) {
                    power = times(power, square);
                }
                square = times(square, square);
            }
            return power;
        }

        /**
         * Returns null if the text is no checksum of a whole object; "…-3", a checksum of
         * checksums, is none.
         */
        private @Nullable StoredChecksum tryParse(@Nullable String base64) {
            if (base64 == null) {
                return null;
            }
            try {
                byte[] value = Base64.getDecoder().decode(base64.strip());
                return value.length * 8 == bits
                        ? new StoredChecksum(this, new BigInteger(1, value).longValue())
                        : null;
            } catch (IllegalArgumentException e) {
                return null;
            }
        }
    }

    /** Returns the checksum from a HEAD's metadata; null if none can be used to check parts. */
    public static @Nullable StoredChecksum of(ObjectMetadata metadata) {
        String type = metadata.headers().get(HEADER + "type");
        if ((type != null && !type.equals("FULL_OBJECT"))
                || ObjectHeaders.hasUncertainChecksums(metadata)) {
            return null;
        }
        for (Crc crc : Crc.values()) {
            StoredChecksum stored = crc.tryParse(
                    metadata.headers().get(HEADER + crc.name().toLowerCase(Locale.ROOT)));
            if (stored != null) {
                return stored;
            }
        }
        return null;
    }

    @Override
    public Checksum part() {
        return switch (crc) {
            case CRC32C -> new CRC32C();
            case CRC32 -> new CRC32();
            case CRC64NVME -> new Crc64Nvme();
        };
    }

    @Override
    public boolean isOf(long[] sums, long partBytes, long lastBytes) {
        int last = sums.length - 1;
        long shift = crc.xToTheBitsOf(partBytes);
        long whole = 0;
        for (int i = 0; i < last; i++) {
            whole = crc.times(shift, whole) ^ sums[i];
        }
        return (crc.times(crc.xToTheBitsOf(lastBytes), whole) ^ sums[last]) == value;
    }
}
