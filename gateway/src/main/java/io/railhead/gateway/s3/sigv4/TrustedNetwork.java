package io.railhead.gateway.s3.sigv4;

import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.time.Instant;

/**
 * Authenticates every client that can reach the gateway as one principal, whatever the request
 * claims.
 */
public final class TrustedNetwork implements RequestAuthenticator {
    private final CredentialStore credentials;
    private final String name;

    /** @param name the principal; while it does not exist, every request is refused */
    public TrustedNetwork(CredentialStore credentials, String name) {
        this.credentials = credentials;
        this.name = name;
    }

    @Override
    public Authentication authenticate(RequestHead head, Query query, Instant now) {
        Principal principal = credentials.findPrincipal(name);
        if (principal == null) {
            throw new S3Refusal(S3Error.ACCESS_DENIED,
                    "The principal of this gateway's network has no credential any more.");
        }
        String payload = head.headers().get("x-amz-content-sha256");
        return new Authentication.Named(principal, principal.keys().getFirst(), payload == null
                ? new PayloadSigning.Unsigned()
                : PayloadSigning.parse(payload.strip()));
    }
}
