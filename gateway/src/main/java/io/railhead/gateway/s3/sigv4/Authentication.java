package io.railhead.gateway.s3.sigv4;

import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.Principal;
import io.railhead.protocol.message.SigningKey;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/** The authenticated sender of a request. */
public sealed interface Authentication {

    /** "" for anonymous. */
    default String principalName() {
        return this instanceof Known known ? known.principal().name() : "";
    }

    /** "" for anonymous. */
    default String tenant() {
        return this instanceof Known known ? known.principal().tenant() : "";
    }

    /** Some principal's, by one of its keys. */
    sealed interface Known extends Authentication {

        Principal principal();

        AccessKey key();
    }

    /** It came over a session whose peer proved that it holds the access key. */
    record Proven(Principal principal, AccessKey key) implements Known {}

    /** Nothing in the request claims an identity: it is forwarded unsigned. */
    record Anonymous() implements Authentication {}

    /**
     * Whoever signed it, the store verifies it: the request goes on as it came.
     *
     * @param host as the client named the store
     */
    record PassedThrough(String host) implements Authentication {}

    /**
     * Signed with SigV2, or the network is trusted: nothing of the request proves that its sender
     * owns a session, or the memory that a token names.
     */
    record Named(Principal principal, AccessKey key, PayloadSigning payload) implements Known {}

    /**
     * The request's SigV4 signature was verified.
     *
     * @param signature lower-case hex; with aws-chunked bodies, the seed of their chain
     * @param signedHeaders names in lower case
     * @param presigned by query: its headers other than {@code signedHeaders} are anybody's
     */
    record Signed(Principal principal, AccessKey key, SignatureScope scope, String signature,
            List<String> signedHeaders, boolean presigned, Instant signedAt, PayloadSigning payload,
            SigningKey signingKey) implements Known {

        /** Returns whether the signature's date is at least that long ago. */
        public boolean isAtLeastAsOldAs(Duration age, InstantSource clock) {
            return !signedAt.isAfter(clock.instant().minus(age));
        }

        public Signed {
            signedHeaders = List.copyOf(signedHeaders);
        }

        /** Without the signature, which is good for another request until it is too old. */
        @Override
        public String toString() {
            return "Signed[" + principal.name() + ", " + scope + "]";
        }
    }
}
