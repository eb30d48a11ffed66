package io.railhead.gateway.frontdoor;

import io.netty.handler.codec.http.HttpHeaders;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.http.HttpServerRequest;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of verifying a request on the hit path, so that Vert.x's handler verifies no
 * signature twice. It holds the headers of its request, so no other request can take it.
 *
 * @param fields the request's, the very object that was decoded: Vert.x keeps it
 * @param request it, verified; null of one that does not go to a store, or is refused
 * @param refusal what is wrong with it; null if nothing is
 */
record VerifiedRequest(HttpHeaders fields, @Nullable S3Request request,
        @Nullable S3Refusal refusal) {

    /** Equal fields of another request do not count. */
    @SuppressWarnings("ReferenceEquality")
    boolean isOf(HttpServerRequest other) {
        Object decoded = fields;
        return decoded == other.headers();
    }
}
