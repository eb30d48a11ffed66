package io.railhead.cache.disk;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The keys from outside the disk that wrap the disk's own keys. The first one wraps; all of them
 * unwrap, so that a key can be replaced without a loss.
 */
public final class WrappingKeys {
    private static final int KEY_BYTES = 32;
    private static final int MOST = 16;

    private final List<SecretKey> keys;

    private WrappingKeys(List<SecretKey> keys) {
        this.keys = List.copyOf(keys);
    }

    /** Reads keys of 32 bytes in hex or base64, one on each line. */
    public static WrappingKeys parse(String text) {
        List<SecretKey> keys = text.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .map(WrappingKeys::key)
                .toList();
        if (keys.isEmpty() || keys.size() > MOST) {
            throw new IllegalArgumentException("must hold 1 to " + MOST + " keys");
        }
        return new WrappingKeys(keys);
    }

    private static SecretKey key(String line) {
        byte[] bytes = bytes(line);
        if (bytes == null || bytes.length != KEY_BYTES) {
            // Without the line: it may be nearly a key.
            throw new IllegalArgumentException(
                    "must hold keys of 32 bytes in hex or base64, one on each line");
        }
        return new SecretKeySpec(bytes, "AES");
    }

    private static byte @Nullable [] bytes(String line) {
        try {
            return line.length() == 2 * KEY_BYTES
                    ? HexFormat.of().parseHex(line)
                    : Base64.getDecoder().decode(line);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** Returns the wrapped bytes, which are bound to their place. */
    Wrapped wrap(byte[] secret, byte[] place) {
        return Wrapped.of(keys.getFirst(), secret, place);
    }

    /** Returns whether the first key has wrapped this. */
    boolean isCurrent(Wrapped wrapped, byte[] place) {
        return wrapped.open(keys.getFirst(), place) != null;
    }

    /** Returns the bytes; null if they were wrapped by another key, or for another place. */
    byte @Nullable [] unwrap(Wrapped wrapped, byte[] place) {
        for (SecretKey key : keys) {
            byte[] secret = wrapped.open(key, place);
            if (secret != null) {
                return secret;
            }
        }
        return null;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof WrappingKeys same && encoded().equals(same.encoded());
    }

    private List<List<Byte>> encoded() {
        List<List<Byte>> all = new ArrayList<>();
        for (SecretKey key : keys) {
            List<Byte> bytes = new ArrayList<>();
            for (byte each : key.getEncoded()) {
                bytes.add(each);
            }
            all.add(bytes);
        }
        return all;
    }

    @Override
    public int hashCode() {
        return keys.stream().mapToInt(key -> Arrays.hashCode(key.getEncoded())).sum();
    }

    @Override
    public String toString() {
        return "...";
    }
}
