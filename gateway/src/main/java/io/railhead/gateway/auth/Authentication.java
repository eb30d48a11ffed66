package io.railhead.gateway.auth;

import java.time.Instant;
import java.util.Set;

/** Who a request proved to come from. */
public sealed interface Authentication {

    /** "" for anonymous. */
    default String principalName() {
        return switch (this) {
            case Anonymous _ -> "";
            case Signed signed -> signed.principal().name();
            case Proven(Principal principal, _) -> principal.name();
        };
    }

    /** It came over a session whose peer proved that it holds the access key. */
    record Proven(Principal principal, AccessKey key) implements Authentication {}

    /** Nothing in the request claims an identity: it is forwarded unsigned. */
    record Anonymous() implements Authentication {}

    /**
     * The request's SigV4 signature was verified.
     *
     * @param signature lower-case hex; with aws-chunked bodies, the seed of their chain
     * @param signedHeaders names in lower case
     * @param presigned by query: its headers other than {@code signedHeaders} are anybody's
     */
    record Signed(Principal principal, AccessKey key, SignatureScope scope, String signature,
            Set<String> signedHeaders, boolean presigned, Instant signedAt, PayloadSigning payload,
            SigningKey signingKey) implements Authentication {

        public Signed {
            signedHeaders = Set.copyOf(signedHeaders);
        }
    }
}
