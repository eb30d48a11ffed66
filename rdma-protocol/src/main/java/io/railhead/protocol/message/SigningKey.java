package io.railhead.protocol.message;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.DigestException;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The key that SigV4 derives from a secret for one day, region and service. It signs requests, and
 * sessions' keys are derived from it. Immutable.
 */
public final class SigningKey {
    /** The length of an HMAC-SHA256. */
    public static final int MAC_BYTES = 32;

    private static final String HMAC = "HmacSHA256";
    private static final int BLOCK_BYTES = 64;
    private static final int INNER = 0x36;
    private static final int OUTER = 0x5c;

    private final byte[] key;
    /**
     * SHA-256 behind the block of HMAC's inner pad and of its outer one (RFC 2104). Never fed, only
     * cloned: a cloned {@code Mac} computes both blocks anew.
     */
    private final MessageDigest inner;
    private final MessageDigest outer;

    private SigningKey(byte[] key) {
        this.key = key;
        this.inner = padded(INNER);
        this.outer = padded(OUTER);
    }

    /** @param date yyyyMMdd, UTC */
    public static SigningKey derive(String secret, String date, String region, String service) {
        SigningKey key = new SigningKey(("AWS4" + secret).getBytes(UTF_8));
        for (String step : new String[]{date, region, service, "aws4_request"}) {
            key = new SigningKey(key.sign(step));
        }
        return key;
    }

    /** Returns the HMAC-SHA256 of the text. */
    public byte[] sign(String text) {
        byte[] bytes = text.getBytes(UTF_8);
        byte[] mac = new byte[MAC_BYTES];
        sign(bytes, bytes.length, mac);
        return mac;
    }

    /**
     * Computes the HMAC-SHA256 of a text.
     *
     * @param text its first {@code length} bytes are the text
     * @param mac receives the result
     */
    public void sign(byte[] text, int length, byte[] mac) {
        try {
            MessageDigest message = begun(inner, INNER);
            message.update(text, 0, length);
            message.digest(mac, 0, MAC_BYTES);
            MessageDigest whole = begun(outer, OUTER);
            whole.update(mac, 0, MAC_BYTES);
            whole.digest(mac, 0, MAC_BYTES);
        } catch (DigestException e) {
            throw new IllegalStateException("the array is shorter than an HMAC", e);
        }
    }

    /** Returns a Mac of the caller's own, reusable by one thread. */
    public Mac mac() {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(key, HMAC));
            return mac;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has " + HMAC, e);
        }
    }

    /** Returns a copy of the key for deriving others; never for a log or a message. */
    public byte[] reveal() {
        return key.clone();
    }

    private MessageDigest begun(MessageDigest known, int pad) {
        try {
            return (MessageDigest) known.clone();
        } catch (CloneNotSupportedException e) {
            return padded(pad);
        }
    }

    private MessageDigest padded(int pad) {
        MessageDigest digest = sha256();
        byte[] block = new byte[BLOCK_BYTES];
        byte[] start = key.length > BLOCK_BYTES ? sha256().digest(key) : key;
        for (int i = 0; i < block.length; i++) {
            block[i] = (byte) (pad ^ (i < start.length ? start[i] : 0));
        }
        digest.update(block);
        return digest;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    @Override
    public String toString() {
        return "SigningKey[****]";
    }
}
