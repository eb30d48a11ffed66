package io.railhead.gateway.trust;

import java.time.Duration;

/**
 * How old what is read may be, and for how long a permission that was withdrawn may still be
 * remembered: what a rule's freshness and authorization say.
 */
public record Promise(String bucket, Duration staleness, Duration remembered) {
    private static final Duration EVER = Duration.ofDays(10_000);

    public static Promise strong(String bucket) {
        return new Promise(bucket, Duration.ZERO, Duration.ZERO);
    }

    public static Promise bounded(String bucket, Duration bound, Duration remembered) {
        return new Promise(bucket, bound, remembered);
    }

    public static Promise immutable(String bucket, Duration remembered) {
        return new Promise(bucket, EVER, remembered);
    }

    /** Nobody writes past the gateway. */
    public static Promise exclusive(String bucket, Duration remembered) {
        return new Promise(bucket, Duration.ZERO, remembered);
    }
}
