package io.railhead.os;

/**
 * Decides how long a waiting thread spins before it sleeps: up to a limit where spinning has lately
 * found something, and not at all where it has not. To be woken takes microseconds that a short
 * wait need not have; but where processors are scarce, who turns keeps away the one that it waits
 * for. One thread.
 *
 * <p> Each wait that had to sleep halves the allowance, one that did not restores it, and so does
 * every 64th sleep: how else would a thread find out that turning helps again.
 */
public final class AdaptiveSpin {
    private static final int PROBE = 64;
    private final long limitNanos;
    private long allowanceNanos;
    private int sleeps;

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

    /** It came while the thread turned. */
    public void found() {
        allowanceNanos = limitNanos;
    }

    /** It had not come, and the thread slept. */
    public void slept() {
        sleeps++;
        allowanceNanos = sleeps % PROBE == 0 ? limitNanos : allowanceNanos >> 1;
    }
}
