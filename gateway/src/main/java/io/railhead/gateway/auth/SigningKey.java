package io.railhead.gateway.auth;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.Key;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The key SigV4 derives from a secret for one day, region and service. Immutable. */
public final class SigningKey {
    private static final String HMAC = "HmacSHA256";

    private final SecretKeySpec key;
    /** Never fed: copied for each text, which costs less than asking for a provider. */
    private final Mac begun;

    private SigningKey(byte[] key) {
        this.key = new SecretKeySpec(key, HMAC);
        this.begun = mac(this.key);
    }

    static SigningKey derive(Secret secret, SignatureScope scope) {
        byte[] start = ("AWS4" + secret.reveal()).getBytes(UTF_8);
        SigningKey date = new SigningKey(new SigningKey(start).sign(scope.date()));
        SigningKey region = new SigningKey(date.sign(scope.region()));
        SigningKey service = new SigningKey(region.sign(scope.service()));
        return new SigningKey(service.sign("aws4_request"));
    }

    /** HMAC-SHA256 of the text. */
    public byte[] sign(String text) {
        return copy().doFinal(text.getBytes(UTF_8));
    }

    private Mac copy() {
        try {
            return (Mac) begun.clone();
        } catch (CloneNotSupportedException e) {
            return mac(key);
        }
    }

    /** A copy of the key itself, for deriving others from it; never for a log or a message. */
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
