package io.railhead.backend.aws;

import io.railhead.backend.BackendConfig;
import io.railhead.backend.FetchTurn;
import org.jspecify.annotations.Nullable;

/**
 * Admits as many fetches to a store as it can take; the others wait for their turn. Any thread;
 * only fetches wait here, and none is started under the lock.
 */
final class FetchGate {
    private final FetchLimit limit;
    private final Waiting<Runnable> waiting = new Waiting<>();
    private int underWay;
    private boolean admitting;

    FetchGate(BackendConfig.Fetches bounds) {
        limit = new FetchLimit(bounds);
    }

    /** The current state. */
    record State(int limit, int underWay, int waiting) {}

    /** @param fetch started now or later, on any thread; must end with one {@link #left} */
    void enter(FetchTurn turn, Runnable fetch) {
        synchronized (this) {
            waiting.add(turn, fetch);
        }
        admit();
    }

    /** Notes the response to a fetch that is still under way. */
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

    /**
     * Starts admitted fetches, one thread at a time: a fetch that ends at once starts the next
     * without a deeper stack.
     */
    private void admit() {
        for (Runnable next = next(true); next != null; next = next(false)) {
            begin(next);
        }
    }

    /** Starts a fetch. One that throws must not block the others for ever. */
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
