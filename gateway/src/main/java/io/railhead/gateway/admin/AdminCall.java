package io.railhead.gateway.admin;

import io.railhead.gateway.s3.sigv4.Authentication;
import io.vertx.core.json.JsonObject;

/** One call of the admin API. */
@FunctionalInterface
interface AdminCall {

    /**
     * Does it, on a virtual thread of its own that is interrupted where the caller leaves or the
     * gateway stops; throws {@code S3Refusal} where it is refused.
     *
     * @return the answer, or its last line where lines were sent before; {@code state} in it says
     *         how it ended unless that is {@code done}
     */
    JsonObject run(Asked asked) throws InterruptedException;

    /**
     * A call as it came.
     *
     * @param caller an administrator, proved
     * @param peer address of the caller, as policies see it
     */
    record Asked(Authentication.Signed caller, String peer, CallBody body, AdminResponse reply) {}
}
