package io.railhead.gateway.auth;

import java.time.Instant;

/**
 * Authenticates the sender of a request; one implementation for each way to. Any thread, never
 * blocks.
 */
@FunctionalInterface
public interface RequestAuthenticator {

    /** Who sent it; throws {@code S3Refusal} with AWS's code if the claim does not hold. */
    Authentication authenticate(RequestHead head, Instant now);
}
