package io.railhead.rdma.channel;

/**
 * How long a waiting thread turns before it sleeps: as long as it takes where what it waits for has
 * lately come within the limit, and not at all where it has not. A sleeper is woken in microseconds
 * that a short wait would not have needed; a long wait gains nothing by turning. One thread.
 *
 * <p> Each wait that outlasts the limit halves the allowance, one that does not restores it: a
 * thread whose work has become rare stops turning after a few waits.
 */
public final class AdaptiveSpin {
    private final long limitNanos;
    private long allowanceNanos;

    /**
     * @param limitNanos the longest turn; 0 for none
     */
    public AdaptiveSpin(long limitNanos) {
        this.limitNanos = limitNanos;
        this.allowanceNanos = limitNanos;
    }

    /** How long to turn now. */
    public long allowanceNanos() {
        return allowanceNanos;
    }

    /** Learns how long a wait was in all, whether turning or asleep. */
    public void waited(long nanos) {
        allowanceNanos = nanos <= limitNanos ? limitNanos : allowanceNanos >> 1;
    }
}
