package io.railhead.gateway.s3;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Digests every JDK has. */
public final class Digests {
    /** Never fed, only cloned: that is cheaper than a provider lookup each time. */
    private static final MessageDigest SHA256 = of("SHA-256");

    private Digests() {}

    public static MessageDigest sha256() {
        try {
            return (MessageDigest) SHA256.clone();
        } catch (CloneNotSupportedException e) {
            return of("SHA-256");
        }
    }

    public static MessageDigest of(String algorithm) {
        try {
            return MessageDigest.getInstance(algorithm);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has " + algorithm, e);
        }
    }
}
