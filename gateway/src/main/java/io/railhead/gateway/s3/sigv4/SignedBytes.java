package io.railhead.gateway.s3.sigv4;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.gateway.s3.Digests;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.message.SigningKey;
import java.security.DigestException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The bytes that a signature covers: a canonical request, then the string to sign that holds its
 * hash. Each thread has one and uses it for every request, so that verifying leaves no garbage.
 */
final class SignedBytes {
    /** A larger buffer, which only odd heads need, is not kept for the next request. */
    private static final int MOST_KEPT_BYTES = 16 << 10;
    private static final byte[] DIGITS = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a',
            'b', 'c', 'd', 'e', 'f'};
    private static final ThreadLocal<SignedBytes> OF_THREAD = ThreadLocal
            .withInitial(SignedBytes::new);

    private final MessageDigest sha256 = Digests.of("SHA-256");
    private final byte[] hash = new byte[SigningKey.MAC_BYTES];
    private final byte[] mac = new byte[SigningKey.MAC_BYTES];
    private byte[] bytes = new byte[1024];
    private int length;

    private SignedBytes() {}

    /** Returns the calling thread's, empty. */
    static SignedBytes begin() {
        SignedBytes own = OF_THREAD.get();
        if (own.bytes.length > MOST_KEPT_BYTES) {
            own.bytes = new byte[1024];
        }
        own.length = 0;
        return own;
    }

    /**
     * Adds a text whose chars are received bytes. Refuses a wider char, of which only a part would
     * be signed.
     */
    SignedBytes add(String text) {
        int bits = 0;
        for (int i = 0; i < text.length(); i++) {
            bits |= text.charAt(i);
        }
        if (bits > 0xFF) {
            throw new S3Refusal(S3Error.SIGNATURE_DOES_NOT_MATCH);
        }
        return addLatin1(text);
    }

    /** Adds a text that is known to have no char above one byte. */
    @SuppressWarnings("deprecation") // copies the low byte of each char, which is the whole char
    SignedBytes addLatin1(String text) {
        int more = text.length();
        makeRoom(more);
        text.getBytes(0, more, bytes, length);
        length += more;
        return this;
    }

    /** Adds a text by its UTF-8, as signing keys are derived from it. */
    SignedBytes addUtf8(String text) {
        byte[] utf8 = text.getBytes(UTF_8);
        makeRoom(utf8.length);
        System.arraycopy(utf8, 0, bytes, length, utf8.length);
        length += utf8.length;
        return this;
    }

    /** Adds an ASCII character. */
    SignedBytes add(char ascii) {
        makeRoom(1);
        bytes[length++] = (byte) ascii;
        return this;
    }

    /** Replaces the canonical request by the string to sign. */
    void toStringToSign(String date, SignatureScope scope) {
        try {
            sha256.update(bytes, 0, length);
            sha256.digest(hash, 0, hash.length);
        } catch (DigestException e) {
            throw new IllegalStateException("SHA-256 has 32 bytes", e);
        }
        length = 0;
        add(SignatureInput.ALGORITHM).add('\n').add(date).add('\n');
        scope.addTo(this);
        add('\n');
        makeRoom(2 * hash.length);
        for (byte b : hash) {
            bytes[length++] = DIGITS[(b & 0xF0) >> 4];
            bytes[length++] = DIGITS[b & 0xF];
        }
    }

    /**
     * Returns whether this is the key's signature of the bytes, in a time that does not depend on
     * the first difference.
     *
     * @param signature 64 hex digits
     */
    boolean haveSignature(String signature, SigningKey key) {
        key.sign(bytes, length, mac);
        for (int i = 0; i < hash.length; i++) {
            hash[i] = (byte) (HexFormat.fromHexDigit(signature.charAt(2 * i)) << 4
                    | HexFormat.fromHexDigit(signature.charAt(2 * i + 1)));
        }
        return MessageDigest.isEqual(mac, hash);
    }

    private void makeRoom(int more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
        }
    }
}
