package io.railhead.backend.aws;

import io.railhead.backend.BackendConfig;
import io.railhead.backend.FetchTurn;
import org.jspecify.annotations.Nullable;

/**
 * Lets as many fetches go to a store as it stands; the others wait for their turn. Any thread;
 * nobody waits here but fetches, and none is begun under the lock.
 */
final class FetchGate {
    private final FetchLimit limit;
    private final WaitingFetches waiting = new WaitingFetches();
    private int underWay;
    private boolean admitting;

    FetchGate(BackendConfig.Fetches bounds) {
        limit = new FetchLimit(bounds);
    }

    /** As it is now. */
    record State(int limit, int underWay, int waiting) {}

    /**
     * @param fetch begun now or later, on any thread; ends with one {@link #left}
     */
    void enter(FetchTurn turn, Runnable fetch) {
        synchronized (this) {
            waiting.add(turn, fetch);
        }
        admit();
    }

    /** The store's word on a fetch that is under way still. */
    synchronized void answered(long nanos) {
        limit.answered(nanos, underWay >= limit.now());
    }

    synchronized void refused() {
        limit.refused(underWay - 1);
    }

    void left() {
        synchronized (this) {
            underWay--;
        }
        admit();
    }

    /** One thread at a time, so that what ends at once begins the next without a deeper stack. */
    private void admit() {
        for (Runnable next = next(true); next != null; next = next(false)) {
            begin(next);
        }
    }

    /** What throws must not keep the others waiting for ever. */
    private void begin(Runnable fetch) {
        boolean begun = false;
        try {
            fetch.run();
            begun = true;
        } finally {
            if (!begun) {
                stopAdmitting();
            }
        }
    }

    private synchronized void stopAdmitting() {
        admitting = false;
    }

    private synchronized @Nullable Runnable next(boolean entering) {
        if (entering && admitting) {
            return null;
        }
        admitting = waiting.size() > 0 && underWay < limit.now();
        if (!admitting) {
            return null;
        }
        underWay++;
        return waiting.poll();
    }

    synchronized State state() {
        return new State(limit.now(), underWay, waiting.size());
    }
}
