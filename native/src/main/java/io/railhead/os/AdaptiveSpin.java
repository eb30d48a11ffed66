package io.railhead.os;

/**
 * Decides how long a waiting thread spins before it sleeps. It spins up to a limit if spinning has
 * lately succeeded, and not at all if it has not. A wake-up takes microseconds, which a short wait
 * can avoid. But where processors are scarce, a spinning thread delays the thread that it waits
 * for. One thread.
 *
 * <p> Each wait that had to sleep halves the allowance. A wait that succeeded restores it, and so
 * does every 64th sleep, to find out whether spinning helps again.
 */
public final class AdaptiveSpin {
    private static final int PROBE = 64;
    private final long limitNanos;
    private long allowanceNanos;
    private int sleeps;

    /** @param limitNanos the longest spin; 0 for none */
    public AdaptiveSpin(long limitNanos) {
        this.limitNanos = limitNanos;
        this.allowanceNanos = limitNanos;
    }

    /** Returns how long to spin now. */
    public long allowanceNanos() {
        return allowanceNanos;
    }

    /** Notes that the wait succeeded while spinning. */
    public void found() {
        allowanceNanos = limitNanos;
    }

    /** Notes that the wait had to sleep. */
    public void slept() {
        sleeps++;
        allowanceNanos = sleeps % PROBE == 0 ? limitNanos : allowanceNanos >> 1;
    }
}
