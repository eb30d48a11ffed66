package io.railhead.gateway.frontdoor;

import io.netty.handler.codec.http.HttpHeaders;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.http.HttpServerRequest;
import org.jspecify.annotations.Nullable;

/**
 * The result of verifying a request on the hit path, so that Vert.x's handler does not verify the
 * signature again. It holds the headers of its request, so no other request can take it.
 *
 * @param fields the very headers object that was decoded; Vert.x keeps that object
 * @param request the verified request; null if it does not go to a store, or is refused
 * @param refusal the problem of the request; null if there is none
 */
record VerifiedRequest(HttpHeaders fields, @Nullable S3Request request,
        @Nullable S3Refusal refusal) {

    /** Compares by identity: equal fields of another request must not match. */
    @SuppressWarnings("ReferenceEquality")
    boolean isOf(HttpServerRequest other) {
        Object decoded = fields;
        return decoded == other.headers();
    }
}
