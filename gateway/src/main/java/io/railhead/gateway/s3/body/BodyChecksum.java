package io.railhead.gateway.s3.body;

import com.dynatrace.hash4j.hashing.Hashing;
import io.railhead.gateway.s3.Digests;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Locale;
import java.util.Set;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/** The kinds of checksum that a request can declare for its body. */
enum BodyChecksum {
    CRC32(4),
    CRC32C(4),
    CRC64NVME(8),
    SHA1(20),
    SHA256(32),
    SHA512(64),
    XXHASH64(8),
    XXHASH3(8),
    XXHASH128(16),
    MD5(16),
    /** Content-MD5, the oldest, which may accompany any other. */
    CONTENT_MD5(16);

    private static final String PREFIX = "x-amz-checksum-";

    /** Headers about a checksum that have none. */
    private static final Set<String> NO_SUMS = Set.of(PREFIX + "algorithm", PREFIX + "mode",
            PREFIX + "type");

    private final int lengthBytes;

    BodyChecksum(int lengthBytes) {
        this.lengthBytes = lengthBytes;
    }

    /** One checksum in progress; single-threaded. */
    interface Running {
        /** Adds the remaining bytes and leaves the buffer's position alone. */
        void add(ByteBuffer bytes);

        /** Returns the checksum; callable once. */
        byte[] finish();
    }

    /** Returns the checksum of a header or trailer name in lower case; null if there is none. */
    static @Nullable BodyChecksum named(String header) {
        return switch (header) {
            case PREFIX + "crc32" -> CRC32;
            case PREFIX + "crc32c" -> CRC32C;
            case PREFIX + "crc64nvme" -> CRC64NVME;
            case PREFIX + "sha1" -> SHA1;
            case PREFIX + "sha256" -> SHA256;
            case PREFIX + "sha512" -> SHA512;
            case PREFIX + "xxhash64" -> XXHASH64;
            case PREFIX + "xxhash3" -> XXHASH3;
            case PREFIX + "xxhash128" -> XXHASH128;
            case PREFIX + "md5" -> MD5;
            default -> null;
        };
    }

    /**
     * Returns whether the value of a header, in lower case, is a checksum, of a known kind or not.
     */
    static boolean isSum(String header) {
        return header.startsWith(PREFIX) && !NO_SUMS.contains(header);
    }

    String header() {
        return this == CONTENT_MD5 ? "content-md5" : PREFIX + name().toLowerCase(Locale.ROOT);
    }

    /** Parses a declared value; null if it is no possible checksum. */
    byte @Nullable [] tryParse(String base64) {
        try {
            String text = base64.strip();
            byte[] value = Base64.getDecoder().decode(text);
            // The decoder accepts missing padding, but a forwarded value must have it.
            boolean padded = text.length() % 4 == 0;
            return padded && value.length == lengthBytes ? value : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    S3Refusal mismatch() {
        return new S3Refusal(S3Error.BAD_DIGEST, this == CONTENT_MD5
                ? "The Content-MD5 you specified did not match what we received."
                : "The " + name() + " you specified did not match the calculated checksum.");
    }

    Running start() {
        return switch (this) {
            case CRC32 -> running(new CRC32());
            case CRC32C -> running(new CRC32C());
            case CRC64NVME -> running(new Crc64Nvme());
            case SHA1 -> running(Digests.of("SHA-1"));
            case SHA256 -> running(Digests.sha256());
            case SHA512 -> running(Digests.of("SHA-512"));
            case XXHASH64 -> new XxHash.Of64(Hashing.xxh64().hashStream());
            case XXHASH3 -> new XxHash.Of64(Hashing.xxh3_64().hashStream());
            case XXHASH128 -> new XxHash.Of128(Hashing.xxh3_128().hashStream());
            case MD5, CONTENT_MD5 -> running(Digests.of("MD5"));
        };
    }

    private Running running(Checksum sum) {
        return new Running() {
            @Override
            public void add(ByteBuffer bytes) {
                sum.update(bytes.duplicate());
            }

            @Override
            public byte[] finish() {
                byte[] value = new byte[lengthBytes];
                for (int i = 0; i < lengthBytes; i++) {
                    value[lengthBytes - 1 - i] = (byte) (sum.getValue() >>> (8 * i));
                }
                return value;
            }
        };
    }

    private static Running running(MessageDigest digest) {
        return new Running() {
            @Override
            public void add(ByteBuffer bytes) {
                digest.update(bytes.duplicate());
            }

            @Override
            public byte[] finish() {
                return digest.digest();
            }
        };
    }
}
