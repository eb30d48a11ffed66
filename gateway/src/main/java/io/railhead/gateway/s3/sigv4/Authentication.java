package io.railhead.gateway.s3.sigv4;

import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.identity.RoleSession;
import io.railhead.protocol.message.SigningKey;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The authenticated sender of a request. */
public sealed interface Authentication {

    /** Returns "" for anonymous. */
    default String principalName() {
        return this instanceof Known known ? known.principal().name() : "";
    }

    /** "" for anonymous. */
    default String tenant() {
        return this instanceof Known known ? known.principal().tenant() : "";
    }

    /** Returns the role session that signed; null if a static key did, or none. */
    default @Nullable RoleSession session() {
        return this instanceof Known known ? known.key().session() : null;
    }

    /** Some principal's, by one of its keys. */
    sealed interface Known extends Authentication {

        Principal principal();

        AccessKey key();
    }

    /** A request over a session whose peer proved that it holds the access key. */
    record Proven(Principal principal, AccessKey key) implements Known {}

    /** A request without any claim of identity, which is forwarded unsigned. */
    record Anonymous() implements Authentication {}

    /**
     * A request whose signature only the store can verify, so that the request is forwarded
     * unchanged.
     *
     * @param host the store's name in the client's request
     */
    record PassedThrough(String host) implements Authentication {}

    /**
     * A request with a SigV2 signature, or from a trusted network. It does not prove that its
     * sender owns a session, or the memory that a token names.
     */
    record Named(Principal principal, AccessKey key, PayloadSigning payload) implements Known {}

    /**
     * A request with a verified SigV4 signature.
     *
     * @param signature lower-case hex; with aws-chunked bodies, the seed of the chunks' chain
     * @param signedHeaders names in lower case
     * @param presigned true for a signature in the query, where headers outside
     *            {@code signedHeaders} are unprotected
     */
    record Signed(Principal principal, AccessKey key, SignatureScope scope, String signature,
            List<String> signedHeaders, boolean presigned, Instant signedAt, PayloadSigning payload,
            SigningKey signingKey) implements Known {

        /** Returns whether the signature's date is at least that old. */
        public boolean isAtLeastAsOldAs(Duration age, InstantSource clock) {
            return !signedAt.isAfter(clock.instant().minus(age));
        }

        public Signed {
            signedHeaders = List.copyOf(signedHeaders);
        }

        /** Omits the signature, which could sign another request until it expires. */
        @Override
        public String toString() {
            return "Signed[" + principal.name() + ", " + scope + "]";
        }
    }
}
