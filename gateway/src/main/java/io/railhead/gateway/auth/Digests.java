package io.railhead.gateway.auth;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Digests every JDK has. */
public final class Digests {
    private Digests() {}

    static MessageDigest sha256() {
        return of("SHA-256");
    }

    public static MessageDigest of(String algorithm) {
        try {
            return MessageDigest.getInstance(algorithm);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has " + algorithm, e);
        }
    }
}
