package io.railhead.backend.aws;

import io.railhead.backend.FetchTurn;
import io.railhead.backend.Rate;
import io.railhead.backend.TokenBucket;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Holds requests back, so that a store gets no more of them in a second than it allows, and no more
 * bytes on average. Requests wait, retries included; tenants take turns. Bodies under way are not
 * slowed: what they take too much is paid back before the next request. Any thread; nothing blocks,
 * and no request is started under the lock.
 */
final class StoreRate {
    /** A waiting request is small, and one that has waited too long fails by its deadline. */
    private static final int MOST_WAITING = 16_384;

    private final @Nullable TokenBucket requests;
    private final @Nullable TokenBucket bytes;
    private final Timer timer;
    private final Waiting<Attempt> waiting = new Waiting<>();
    private final LongAdder delayed = new LongAdder();
    private boolean admitting;
    private boolean timed;

    /** Runs a task later, on any thread. */
    @FunctionalInterface
    interface Timer {

        /** Throws {@link RejectedExecutionException} once the backend is closing. */
        void schedule(Runnable task, long nanos);
    }

    /** One attempt of a request. */
    interface Attempt extends Runnable {

        /** Returns whether it will send nothing, so that it needs no turn. */
        boolean isOver();
    }

    private StoreRate(Rate limits, Timer timer,
            LongSupplier nanoClock) {
        this.requests = bucket(limits.requests(), nanoClock);
        this.bytes = bucket(limits.bytes(), nanoClock);
        this.timer = timer;
    }

    private static @Nullable TokenBucket bucket(long perSecond, LongSupplier nanoClock) {
        return perSecond == 0 ? null : new TokenBucket(perSecond, nanoClock);
    }

    /** Returns null if there is no limit. */
    static @Nullable StoreRate of(Rate limits, Timer timer,
            LongSupplier nanoClock) {
        return limits.equals(Rate.NONE)
                ? null
                : new StoreRate(limits, timer, nanoClock);
    }

    /** Starts the attempt now or later, on any thread; returns false if too many wait already. */
    boolean tryEnter(FetchTurn turn, Attempt attempt) {
        synchronized (this) {
            if (waiting.size() >= MOST_WAITING) {
                return false;
            }
            if (waiting.size() > 0 || waitNanos() > 0) {
                delayed.increment();
            }
            waiting.add(turn, attempt);
        }
        admit();
        return true;
    }

    /** Counts a request that cannot wait. */
    void force() {
        if (requests != null) {
            requests.charge(1);
        }
    }

    /** Counts bytes that have moved. */
    void moved(long moved) {
        if (bytes != null) {
            bytes.charge(moved);
        }
    }

    /** Returns the number of attempts that had to wait. */
    long delayed() {
        return delayed.sum();
    }

    synchronized int waiting() {
        return waiting.size();
    }

    /** Starts admitted attempts, one thread at a time, as {@link FetchGate} does. */
    private void admit() {
        for (Attempt next = next(true); next != null; next = next(false)) {
            boolean begun = false;
            try {
                next.run();
                begun = true;
            } finally {
                if (!begun) {
                    stopAdmitting();
                }
            }
        }
    }

    private synchronized void stopAdmitting() {
        admitting = false;
    }

    private synchronized @Nullable Attempt next(boolean entering) {
        if (entering && admitting) {
            return null;
        }
        admitting = false;
        if (waiting.size() == 0) {
            return null;
        }
        long wait = waitNanos();
        if (wait > 0) {
            lookAgain(wait);
            return null;
        }
        Attempt next = waiting.poll();
        if (next != null && requests != null && !next.isOver()) {
            requests.charge(1);
        }
        admitting = next != null;
        return next;
    }

    private long waitNanos() {
        return Math.max(requests == null ? 0 : requests.waitNanos(),
                bytes == null ? 0 : bytes.waitNanos());
    }

    private void lookAgain(long nanos) {
        if (timed) {
            return;
        }
        try {
            timer.schedule(this::due, nanos);
            timed = true;
        } catch (RejectedExecutionException _) {
            // The backend is closing, which fails every request that waits.
        }
    }

    private void due() {
        synchronized (this) {
            timed = false;
        }
        admit();
    }
}
