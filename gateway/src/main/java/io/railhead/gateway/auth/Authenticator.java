package io.railhead.gateway.auth;

import java.time.Instant;

/** Verifies SigV4 by header and by query. Any thread, never blocks. */
public final class Authenticator {
    private final CredentialStore credentials;

    public Authenticator(CredentialStore credentials) {
        this.credentials = credentials;
    }

    /** Who sent it; throws {@code S3Exception} with AWS's code if the claim does not hold. */
    public Authentication authenticate(RequestHead head, Instant now) {
        throw new UnsupportedOperationException(credentials.hashCode() + head.method() + now);
    }
}
