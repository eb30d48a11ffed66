package io.railhead.gateway.freshness;

import io.railhead.backend.Headers;
import io.railhead.cache.ObjectMetadata;

/** The result of a HEAD under the principal's own identity. */
public sealed interface Probe {

    /** The object may be read; this is its current metadata. */
    record Found(ObjectMetadata metadata) implements Probe {}

    /** The object may be read, but must not be cached for others. */
    record Uncacheable(Headers headers) implements Probe {}

    /** The backend's own refusal: 403, 404, or another status below 500. */
    record Refused(int status, Headers headers) implements Probe {}

    /** The backend's report of a failure, for now or for this object: 5xx. */
    record Failed(int status, Headers headers) implements Probe {}

    /** The backend did not answer. */
    record Unanswered(Throwable failure) implements Probe {}
}
