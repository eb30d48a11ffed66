package io.railhead.gateway.s3.sigv4;

import io.railhead.gateway.identity.Secret;
import io.railhead.protocol.message.SigningKey;

/**
 * The scope of a SigV4 signature: day, region and service.
 *
 * @param date yyyyMMdd, UTC
 */
public record SignatureScope(String date, String region, String service) {
    static final String S3 = "s3";

    /** Derives the signing key of this scope. */
    SigningKey keyOf(Secret secret) {
        return SigningKey.derive(secret.reveal(), date, region, service);
    }

    /** Adds the text of this scope. */
    void addTo(SignedBytes bytes) {
        bytes.add(date).add('/').addUtf8(region).add('/').add(service).add("/aws4_request");
    }

    @Override
    public String toString() {
        return date + '/' + region + '/' + service + "/aws4_request";
    }
}
