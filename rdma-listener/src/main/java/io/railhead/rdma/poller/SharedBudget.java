package io.railhead.rdma.poller;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Bytes that may be outstanding at a time on the queue pairs of several pollers: a principal's
 * within its port's. What does not fit waits; what is larger than a limit goes alone. Any of its
 * pollers; no lock, and nothing is allocated.
 *
 * <p> Who finds no room leaves a mark and looks once more; who gives back wakes all that have left
 * one. The mark comes before the second look, and the bytes before the look at the marks: so nobody
 * sleeps beside room that is there. Who is first after a wake is not said.
 */
public final class SharedBudget {
    /** One bit of the marks each. */
    public static final int MAX_POLLERS = Long.SIZE;

    private final long limitBytes;
    private final @Nullable SharedBudget within;
    private final Waker waker;
    private final AtomicLong taken = new AtomicLong();
    private final AtomicLong marks = new AtomicLong();

    /** Brings a poller back to work that waits, wherever it sleeps. Any thread. */
    public interface Waker {
        void wake(int poller);
    }

    public SharedBudget(long limitBytes, @Nullable SharedBudget within, Waker waker) {
        if (limitBytes < 1) {
            throw new IllegalArgumentException("limitBytes must be > 0: " + limitBytes);
        }
        this.limitBytes = limitBytes;
        this.within = within;
        this.waker = waker;
    }

    /**
     * Takes the bytes of this budget and of those around it, or none.
     *
     * @param poller whose they are; it is woken when it is worth trying again
     */
    public boolean tryTake(long bytes, int poller) {
        // Looked at first: taking from the outer one in vain would wake others for nothing.
        if (!fits(bytes) && !fitsAfterMark(bytes, poller)) {
            return false;
        }
        if (within != null && !within.tryTake(bytes, poller)) {
            return false;
        }
        if (tryAdd(bytes) || (fitsAfterMark(bytes, poller) && tryAdd(bytes))) {
            return true;
        }
        if (within != null) {
            within.giveBack(bytes);
        }
        return false;
    }

    private boolean fits(long bytes) {
        return fits(bytes, taken.get());
    }

    private boolean fits(long bytes, long now) {
        return now == 0 || bytes <= limitBytes - now;
    }

    private boolean fitsAfterMark(long bytes, int poller) {
        marks.accumulateAndGet(1L << poller, (all, one) -> all | one);
        return fits(bytes);
    }

    private boolean tryAdd(long bytes) {
        long now = taken.get();
        while (fits(bytes, now)) {
            if (taken.compareAndSet(now, now + bytes)) {
                return true;
            }
            now = taken.get();
        }
        return false;
    }

    public void giveBack(long bytes) {
        if (taken.addAndGet(-bytes) < 0) {
            throw new IllegalStateException("more bytes given back than taken");
        }
        if (marks.get() != 0) {
            wakeAll();
        }
        if (within != null) {
            within.giveBack(bytes);
        }
    }

    private void wakeAll() {
        for (long left = marks.getAndSet(0); left != 0; left &= left - 1) {
            waker.wake(Long.numberOfTrailingZeros(left));
        }
    }

    public long taken() {
        return taken.get();
    }
}
