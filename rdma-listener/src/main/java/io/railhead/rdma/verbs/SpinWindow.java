package io.railhead.rdma.verbs;

/**
 * How long a poller looks on before it sleeps: longer while sleeps turn out to be short, down to
 * nothing while they are long. Never longer than its limit, which bounds what idleness costs.
 */
final class SpinWindow {
    private final long maxNanos;
    private long nanos;

    SpinWindow(long maxNanos) {
        if (maxNanos < 0) {
            throw new IllegalArgumentException("maxNanos must be >= 0: " + maxNanos);
        }
        this.maxNanos = maxNanos;
        this.nanos = maxNanos;
    }

    long nanos() {
        return nanos;
    }

    /** A sleep ended. */
    void slept(long sleptNanos) {
        if (sleptNanos <= maxNanos) {
            nanos = Math.min(maxNanos, Math.max(maxNanos / 8, nanos * 2));
        } else {
            nanos /= 2;
        }
    }
}
