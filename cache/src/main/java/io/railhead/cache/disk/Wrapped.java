package io.railhead.cache.disk;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import org.jspecify.annotations.Nullable;

/** A key of 32 bytes that another one has encrypted by AES-256-GCM: nonce, bytes and tag. */
final class Wrapped {
    static final int BYTES = 60;
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final byte[] bytes;

    private Wrapped(byte[] bytes) {
        this.bytes = bytes;
    }

    /** @param place bound to the result, which cannot be opened for another one */
    static Wrapped of(SecretKey key, byte[] secret, byte[] place) {
        byte[] nonce = new byte[NONCE_BYTES];
        RANDOM.nextBytes(nonce);
        try {
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, key, nonce, place).doFinal(secret);
            return new Wrapped(ByteBuffer.allocate(BYTES).put(nonce).put(sealed).array());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has AES-GCM", e);
        }
    }

    static Wrapped read(ByteBuffer in) {
        byte[] bytes = new byte[BYTES];
        in.get(bytes);
        return new Wrapped(bytes);
    }

    void write(ByteBuffer out) {
        out.put(bytes);
    }

    /** Returns null if another key is needed, or the bytes are damaged. */
    byte @Nullable [] open(SecretKey key, byte[] place) {
        byte[] nonce = Arrays.copyOf(bytes, NONCE_BYTES);
        try {
            return cipher(Cipher.DECRYPT_MODE, key, nonce, place).doFinal(bytes, NONCE_BYTES,
                    BYTES - NONCE_BYTES);
        } catch (AEADBadTagException e) {
            return null;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has AES-GCM", e);
        }
    }

    private static Cipher cipher(int mode, SecretKey key, byte[] nonce, byte[] place)
            throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(place);
        return cipher;
    }
}
