package io.railhead.gateway.s3.sigv4;

import io.railhead.gateway.s3.Query;
import java.time.Instant;

/**
 * Authenticates the sender of a request; one implementation for each method. Any thread; never
 * blocks.
 */
@FunctionalInterface
public interface RequestAuthenticator {

    /**
     * Returns the sender. Throws {@code S3Refusal} with AWS's code if the signature does not hold.
     *
     * @param query the query of the head
     */
    Authentication authenticate(RequestHead head, Query query, Instant now);

    /**
     * Returns the sender, like the method above.
     *
     * @param memory parsed forms of the connection's head before
     */
    default Authentication authenticate(RequestHead head, Query query, Instant now,
            SignatureMemory memory) {
        return authenticate(head, query, now);
    }

    /** Authenticates a request whose query has not been parsed yet. */
    default Authentication authenticate(RequestHead head, Instant now) {
        return authenticate(head, Query.require(head.rawQuery()), now);
    }
}
