package io.railhead.client;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

/** A checksum of an object or a part, with the name and form of {@code x-amz-checksum-*}. */
record Checksum(Kind kind, String value) {
    private static final int PIECE = 1 << 20;
    private static final Pattern OF_PARTS = Pattern.compile("\"?[^\"]*-\\d+\"?");
    private static final Pattern MD5_ETAG = Pattern.compile("\"?(\\p{XDigit}{32})\"?");

    /** The algorithms that the JDK computes, in order of preference. */
    enum Kind {
        SHA256,
        SHA1,
        CRC32C,
        CRC32,
        MD5;

        String header() {
            return "x-amz-checksum-" + name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Finds a checksum among response headers. A checksum of checksums ("…-3") does not cover the
     * bytes, and an upload in parts without a type is ambiguous: both are ignored.
     */
    static Optional<Checksum> find(String etag, Function<String, Optional<String>> headers) {
        String type = headers.apply("x-amz-checksum-type").orElse("");
        if (type.equals("COMPOSITE") || (type.isEmpty() && OF_PARTS.matcher(etag).matches())) {
            return Optional.empty();
        }
        for (Kind kind : Kind.values()) {
            Optional<String> value = headers.apply(kind.header());
            if (value.isPresent() && value.get().indexOf('-') < 0) {
                return Optional.of(new Checksum(kind, value.get()));
            }
        }
        return Optional.empty();
    }

    /**
     * Finds a checksum in an entry of a listing of parts; an ETag that looks like an MD5 counts as
     * one.
     */
    static Optional<Checksum> ofPart(Map<String, String> entry) {
        for (Kind kind : Kind.values()) {
            String value = entry.getOrDefault("Checksum" + kind, "");
            if (!value.isEmpty()) {
                return Optional.of(new Checksum(kind, value));
            }
        }
        Matcher md5 = MD5_ETAG.matcher(entry.getOrDefault("ETag", ""));
        return md5.matches()
                ? Optional.of(new Checksum(Kind.MD5, Base64.getEncoder()
                        .encodeToString(HexFormat.of().parseHex(md5.group(1)))))
                : Optional.empty();
    }

    static Checksum crc32(ByteBuffer bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes.duplicate());
        return new Checksum(Kind.CRC32, base64(crc.getValue()));
    }

    boolean matches(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            return matches(channel, 0, channel.size());
        }
    }

    /** Compares the checksum with that of a file's region. */
    boolean matches(FileChannel file, long offset, long bytes) throws IOException {
        return value.equals(switch (kind) {
            case CRC32 -> crc(new CRC32(), file, offset, bytes);
            case CRC32C -> crc(new CRC32C(), file, offset, bytes);
            case MD5 -> digest("MD5", file, offset, bytes);
            case SHA1 -> digest("SHA-1", file, offset, bytes);
            case SHA256 -> digest("SHA-256", file, offset, bytes);
        });
    }

    private static String crc(java.util.zip.Checksum crc, FileChannel file, long offset,
            long bytes) throws IOException {
        each(file, offset, bytes, crc::update);
        return base64(crc.getValue());
    }

    private static String digest(String algorithm, FileChannel file, long offset, long bytes)
            throws IOException {
        try {
            MessageDigest digest = MessageDigest.getInstance(algorithm);
            each(file, offset, bytes, digest::update);
            return Base64.getEncoder().encodeToString(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has " + algorithm, e);
        }
    }

    private static void each(FileChannel file, long offset, long bytes,
            Consumer<ByteBuffer> update) throws IOException {
        ByteBuffer piece = ByteBuffer.allocateDirect(PIECE);
        long end = offset + bytes;
        for (long at = offset; at < end; at += piece.limit()) {
            if (file.read(piece.clear().limit((int) Math.min(PIECE, end - at)), at) < 0) {
                throw new EOFException("the file became shorter while it was read");
            }
            update.accept(piece.flip());
        }
    }

    private static String base64(long crc) {
        return Base64.getEncoder()
                .encodeToString(ByteBuffer.allocate(4).putInt((int) crc).array());
    }
}
