package io.railhead.gateway.frontdoor;

import io.railhead.gateway.admission.Permit;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.request.S3Request;

/**
 * A verified request, the plan of its response, and its admission permit. The holder of this record
 * must close the permit.
 */
record PlannedHit(S3Request request, ReadPlan plan, Permit ownedPermit) {
    /** Above this size copying dominates the cost, and one write could exceed the idle timeout. */
    static final long MOST_BYTES = 256 << 10;
}
