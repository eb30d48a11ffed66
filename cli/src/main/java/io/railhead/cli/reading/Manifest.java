package io.railhead.cli.reading;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * The expected content of the objects, known before any is measured. Each part has a SHA-256, so
 * that it can be checked when it is delivered.
 */
public record Manifest(String bucket, int partBytes, List<Entry> entries) {
    /** The part size of the client library. */
    public static final int PART_BYTES = 8 << 20;

    public Manifest(String bucket, List<Entry> entries) {
        this(bucket, PART_BYTES, entries);
    }

    /** One object. */
    public record Entry(String key, long bytes, List<String> sha256OfParts) {}

    /** Returns the entry of an object from its file. */
    public static Entry entry(String key, Path file) throws IOException {
        List<String> digests = new ArrayList<>();
        ByteBuffer part = ByteBuffer.allocate(PART_BYTES);
        long bytes = 0;
        try (FileChannel channel = FileChannel.open(file)) {
            while (fill(part.clear(), channel)) {
                bytes += part.flip().remaining();
                digests.add(sha256(part));
            }
        }
        return new Entry(key, bytes, digests);
    }

    private static boolean fill(ByteBuffer part, FileChannel channel) throws IOException {
        while (part.hasRemaining() && channel.read(part) >= 0) {
            // A read may be short.
        }
        return part.position() > 0;
    }

    public long totalBytes() {
        return entries.stream().mapToLong(Entry::bytes).sum();
    }

    public static String sha256(ByteBuffer bytes) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(bytes);
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
