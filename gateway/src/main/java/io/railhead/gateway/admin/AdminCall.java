package io.railhead.gateway.admin;

import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.vertx.core.json.JsonObject;

/** One call of the admin API. */
@FunctionalInterface
interface AdminCall {

    /**
     * Runs the call on a virtual thread, which is interrupted when the caller leaves or the gateway
     * stops. Throws {@code S3Refusal} for a refusal.
     *
     * @return the response, or its last line after progress lines; {@code state} in it names the
     *         end unless that is {@code done}
     */
    JsonObject run(Asked asked) throws InterruptedException;

    /**
     * The arguments of a call.
     *
     * @param caller an authenticated administrator
     * @param peer the caller, as policies see it
     */
    record Asked(Authentication.Signed caller, RequestSource peer, CallBody body,
            AdminResponse reply) {}
}
