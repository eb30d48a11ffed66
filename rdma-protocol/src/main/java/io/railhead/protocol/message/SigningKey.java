package io.railhead.protocol.message;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.Key;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The key that SigV4 derives from a secret for one day, region and service. It signs requests, and
 * sessions' keys are derived from it. Immutable.
 */
public final class SigningKey {
    private static final String HMAC = "HmacSHA256";

    private final SecretKeySpec key;
    /** Never fed, only cloned: that is cheaper than a provider lookup each time. */
    private final Mac begun;

    private SigningKey(byte[] key) {
        this.key = new SecretKeySpec(key, HMAC);
        this.begun = mac(this.key);
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
        return mac().doFinal(text.getBytes(UTF_8));
    }

    /** Returns a Mac of the caller's own, reusable by one thread. */
    public Mac mac() {
        try {
            return (Mac) begun.clone();
        } catch (CloneNotSupportedException e) {
            return mac(key);
        }
    }

    /** Returns a copy of the key for deriving others; never for a log or a message. */
    public byte[] reveal() {
        return key.getEncoded();
    }

    private static Mac mac(Key key) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(key);
            return mac;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has " + HMAC, e);
        }
    }

    @Override
    public String toString() {
        return "SigningKey[****]";
    }
}
