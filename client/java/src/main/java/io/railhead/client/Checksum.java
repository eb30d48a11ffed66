package io.railhead.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

/** A checksum of a whole object, as {@code x-amz-checksum-*} names and writes it. */
record Checksum(Kind kind, String value) {
    private static final int PIECE = 1 << 20;

    /** What the JDK computes; the order is the order of preference. */
    enum Kind {
        SHA256,
        SHA1,
        CRC32C,
        CRC32;

        String header() {
            return "x-amz-checksum-" + name().toLowerCase(Locale.ROOT);
        }
    }

    /** From an answer's headers; checksums of checksums ("…-3") do not cover the bytes. */
    static Optional<Checksum> find(Function<String, Optional<String>> headers) {
        if (headers.apply("x-amz-checksum-type").orElse("").equals("COMPOSITE")) {
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

    static Checksum crc32(ByteBuffer bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes.duplicate());
        return new Checksum(Kind.CRC32, base64(crc.getValue()));
    }

    boolean matches(Path file) throws IOException {
        return value.equals(switch (kind) {
            case CRC32 -> crc(new CRC32(), file);
            case CRC32C -> crc(new CRC32C(), file);
            case SHA1 -> digest("SHA-1", file);
            case SHA256 -> digest("SHA-256", file);
        });
    }

    private static String crc(java.util.zip.Checksum crc, Path file) throws IOException {
        each(file, crc::update);
        return base64(crc.getValue());
    }

    private static String digest(String algorithm, Path file) throws IOException {
        try {
            MessageDigest digest = MessageDigest.getInstance(algorithm);
            each(file, digest::update);
            return Base64.getEncoder().encodeToString(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has " + algorithm, e);
        }
    }

    private static void each(Path file, Consumer<ByteBuffer> update)
            throws IOException {
        ByteBuffer piece = ByteBuffer.allocateDirect(PIECE);
        try (FileChannel channel = FileChannel.open(file)) {
            while (channel.read(piece.clear()) >= 0) {
                update.accept(piece.flip());
            }
        }
    }

    private static String base64(long crc) {
        return Base64.getEncoder()
                .encodeToString(ByteBuffer.allocate(4).putInt((int) crc).array());
    }
}
