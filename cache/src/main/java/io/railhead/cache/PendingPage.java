package io.railhead.cache;

import io.railhead.cache.FillTable.Fetcher;
import io.railhead.cache.memory.Lease;
import io.railhead.cache.memory.Page;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One page that a reader will want next: waiting, held, lost, or dropped after the reader changed
 * its plan. The lease is taken on the fill's thread and dropped on the reader's; whichever comes
 * second closes it.
 */
final class PendingPage implements FillTable.Seeker, FillClaim.Waiter, Runnable {

    sealed interface State {}

    enum Without implements State {
        WAITING,
        EVICTED,
        DROPPED,
        HANDED_OVER
    }

    record Held(Lease lease) implements State {}

    record Lost(FillException cause) implements State {}

    private final WindowReader reader;
    private final PageKey key;
    private final int from;
    private final int length;
    private final AtomicReference<State> state = new AtomicReference<>(Without.WAITING);
    private Fetcher fetcher = Fetcher.OTHER;

    PendingPage(WindowReader reader, PageKey key, int from, int length) {
        this.reader = reader;
        this.key = key;
        this.from = from;
        this.length = length;
    }

    @Override
    public PageKey key() {
        return key;
    }

    @Override
    public int from() {
        return from;
    }

    int length() {
        return length;
    }

    Fetcher fetcher() {
        return fetcher;
    }

    State state() {
        return state.get();
    }

    @Override
    public boolean tryHold(Page page) {
        Lease lease = page.tryRetain(this);
        if (lease != null) {
            state.set(new Held(lease));
        }
        return lease != null;
    }

    @Override
    public void join(FillClaim fillClaim, Fetcher by) {
        fetcher = by;
        fillClaim.whenSettled(this);
    }

    @Override
    public void settled(FillClaim.Outcome outcome) {
        State next = switch (outcome) {
            case FillClaim.Failed failed -> new Lost(failed.cause());
            case FillClaim.Filled filled -> {
                Lease lease = state.get() == Without.WAITING
                        ? filled.page().tryRetain(this)
                        : null;
                yield lease == null ? Without.EVICTED : new Held(lease);
            }
        };
        if (state.compareAndSet(Without.WAITING, next)) {
            reader.wake();
        } else if (next instanceof Held held) {
            held.lease().close();
        }
    }

    /** Passes the lease to the receiver; the lease's end moves the reader's window. */
    void handOver() {
        state.set(Without.HANDED_OVER);
    }

    void drop() {
        if (state.getAndSet(Without.DROPPED) instanceof Held held) {
            held.lease().close();
        }
    }

    /** Called at the lease's end. */
    @Override
    public void run() {
        if (state.get() == Without.HANDED_OVER) {
            reader.closed(length);
        }
    }
}
