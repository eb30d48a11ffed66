package io.railhead.backend.aws;

import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;

/** The checksum trailers of S3; each algorithm fixes the length of its value. */
final class ChecksumTrailers {
    private static final Map<String, Integer> VALUE_CHARS = Map.of("x-amz-checksum-crc32", 8,
            "x-amz-checksum-crc32c", 8, "x-amz-checksum-crc64nvme", 12, "x-amz-checksum-sha1", 28,
            "x-amz-checksum-sha256", 44, "x-amz-checksum-sha512", 88, "x-amz-checksum-md5", 24,
            "x-amz-checksum-xxhash64", 12, "x-amz-checksum-xxhash3", 12,
            "x-amz-checksum-xxhash128", 24);

    private ChecksumTrailers() {}

    /** Returns whether the length of the encoded body is known before it is sent. */
    static boolean areAllKnown(Map<String, Supplier<String>> trailers) {
        return trailers.keySet()
                .stream()
                .allMatch(name -> VALUE_CHARS.containsKey(name.toLowerCase(Locale.ROOT)));
    }

    static long encodedBytes(Map<String, Supplier<String>> trailers) {
        long total = 0;
        for (String name : trailers.keySet()) {
            total += name.length() + 1 + valueChars(name) + 2;
        }
        return total;
    }

    /**
     * Returns {@code name:value} lines; a value of another length belongs to another algorithm and
     * is refused.
     */
    static String lines(Map<String, Supplier<String>> trailers) {
        StringBuilder lines = new StringBuilder();
        trailers.forEach((name, supplier) -> {
            String value = supplier.get();
            if (value.length() != valueChars(name)) {
                throw new IllegalStateException("trailer " + name + " has the wrong length");
            }
            lines.append(name).append(':').append(value).append("\r\n");
        });
        return lines.toString();
    }

    private static int valueChars(String name) {
        Integer chars = VALUE_CHARS.get(name.toLowerCase(Locale.ROOT));
        if (chars == null) {
            throw new IllegalArgumentException("trailer must be a known checksum: " + name);
        }
        return chars;
    }
}
