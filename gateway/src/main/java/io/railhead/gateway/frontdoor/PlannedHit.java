package io.railhead.gateway.frontdoor;

import io.railhead.gateway.admission.Permit;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.request.S3Request;

/**
 * A verified request, what it is to be answered with, and its place in admission, which whoever has
 * this gives back.
 */
record PlannedHit(S3Request request, ReadPlan plan, Permit ownedPermit) {
    /**
     * Of more than that the bytes cost, and not the request; and one write has one idle timeout.
     */
    static final long MOST_BYTES = 256 << 10;
}
