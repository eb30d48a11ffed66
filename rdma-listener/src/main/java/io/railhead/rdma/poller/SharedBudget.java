package io.railhead.rdma.poller;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Bytes that may be outstanding on the queue pairs of several pollers: a principal's, within its
 * port's. A request that does not fit waits; one above the limit is sent alone. Any of its pollers;
 * no lock, and no allocation.
 *
 * <p> A poller that finds no room sets a mark and tries once more; a release wakes every poller
 * with a mark. The mark is set before the second try, and bytes are released before the marks are
 * read. So no poller sleeps while there is room. The order after a wake is undefined.
 */
public final class SharedBudget {
    /** Each poller has one bit of the marks. */
    public static final int MAX_POLLERS = Long.SIZE;

    private final long limitBytes;
    private final @Nullable SharedBudget within;
    private final Waker waker;
    private final AtomicLong taken = new AtomicLong();
    private final AtomicLong marks = new AtomicLong();

    /** Wakes a poller whose work waits for room. Any thread. */
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
     * Takes the bytes from this budget and those around it, or none.
     *
     * @param poller the taking poller, which is woken when a retry may succeed
     */
    public boolean tryTake(long bytes, int poller) {
        // Checked first: a vain take from the outer budget would wake other pollers for nothing.
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
