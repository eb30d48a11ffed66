package io.railhead.gateway.frontdoor;

import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Refusal;
import org.jspecify.annotations.Nullable;

/**
 * A verified request, handed on so that no signature is verified twice.
 *
 * @param request it, verified; null of one that does not go to a store, or is refused
 * @param refusal what is wrong with it; null if nothing is
 */
record VerifiedRequest(@Nullable S3Request request, @Nullable S3Refusal refusal) {}
