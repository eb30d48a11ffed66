package io.railhead.gateway.object.writeback;

import io.railhead.cache.WriteOutcome;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pending writes of one bucket, which reach the store one after the other, in the order in
 * which they were acknowledged. A request that must wait for them has its turn in the same order,
 * and the writes behind it wait for its answer. Any thread. A write that the store refuses holds up
 * those behind it: nothing overtakes.
 */
final class BucketQueue {
    /** The time in which a store may still perform a request that it did not answer. */
    static final Duration DOUBT = Duration.ofMinutes(1);
    private static final Logger LOG = LoggerFactory.getLogger(BucketQueue.class);
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(60);

    private final Steps steps;
    private final LongSupplier nanoClock;
    private final Deque<Entry> entries = new ArrayDeque<>(); // guarded by this; in their order
    private final Map<Entry, Long> doubts = new HashMap<>(); // guarded by this; to nanoseconds
    private final UnclearKeys unclear = new UnclearKeys(); // guarded by this
    private final Set<PendingWrite> leaving = new HashSet<>(); // guarded by this; none is tried
    private int turns; // guarded by this; requests that are at the store
    private boolean busy; // guarded by this
    private boolean closed; // guarded by this
    private boolean sealed; // guarded by this
    private @Nullable Object timer; // guarded by this; the pause under way
    private Duration pause = FIRST_PAUSE; // guarded by this

    /** A member of the queue. */
    sealed interface Entry permits PendingWrite, Turn {

        /** Returns the key that it changes, decoded; "" for any. */
        String key();

        default boolean touches(String other) {
            return key().isEmpty() || other.isEmpty() || key().equals(other);
        }
    }

    /** The steps of a queue, none of which blocks. */
    interface Steps {

        /** Writes to the store; never fails. */
        CompletionStage<StoreWriter.Outcome> write(PendingWrite next);

        /** Forgets a write for good. The stage fails if the log cannot. */
        CompletionStage<?> forget(PendingWrite written);

        /** Runs a step after a pause. */
        void later(Runnable step, Duration pause);
    }

    BucketQueue(Steps steps, LongSupplier nanoClock) {
        this.steps = steps;
        this.nanoClock = nanoClock;
    }

    void add(PendingWrite write) {
        synchronized (this) {
            entries.add(write);
        }
        goOn();
    }

    /** Gives a request its turn, unless {@link #leave} comes first. */
    void add(Turn turn) {
        synchronized (this) {
            entries.add(turn);
        }
        goOn();
    }

    /** Returns whether a request was still waiting, which now never has its turn. */
    boolean leave(Turn turn) {
        boolean waited;
        synchronized (this) {
            waited = entries.remove(turn);
        }
        if (waited) {
            goOn();
        }
        return waited;
    }

    synchronized List<PendingWrite> all() {
        List<PendingWrite> writes = new ArrayList<>();
        for (Entry entry : entries) {
            if (entry instanceof PendingWrite write) {
                writes.add(write);
            }
        }
        return writes;
    }

    /** Returns the write behind which no other waits; null for none. */
    @Nullable
    PendingWrite last() {
        List<PendingWrite> writes = all();
        return writes.isEmpty() ? null : writes.getLast();
    }

    /** Returns whether the store refuses the first write. */
    synchronized boolean isStuck() {
        return !sealed && entries.peek() instanceof PendingWrite first
                && !first.problem().isEmpty();
    }

    /** Returns whether a write may be acknowledged before the store has it. */
    synchronized boolean takesWrites() {
        return !sealed && !isStuck();
    }

    /**
     * Returns whether a request that changes a key may go to the store now. Nobody waits, and no
     * earlier request may still change the key; or the first write is stuck, and it is a deletion
     * that nothing in the queue is about.
     */
    synchronized boolean mayPass(String key, boolean deletes) {
        if (sealed || isInDoubt(key, null)) {
            return false;
        }
        return entries.isEmpty() || (deletes && !key.isEmpty() && isStuck()
                && entries.stream().noneMatch(entry -> entry.touches(key)));
    }

    /**
     * Counts a request that goes to the store now, if it {@link #mayPass}. Until {@link #passed} no
     * pending write of its key is sent: the store might perform the request after that. Other
     * requests do not wait, as at any store.
     *
     * @param key decoded; "" for any
     */
    synchronized boolean tryPass(String key, boolean deletes) {
        boolean passes = mayPass(key, deletes);
        if (passes) {
            unclear.begin(key);
        }
        return passes;
    }

    /** Ends a request that passed. Pending writes of some keys wait for a time after it. */
    void passed(String key, Set<String> unclearKeys) {
        synchronized (this) {
            unclear.end(key);
            unclearKeys.forEach(each -> unclear.add(each, nanoClock.getAsLong()));
        }
        goOn();
    }

    /**
     * Ends all changes of the bucket until a restart: the log may have a write that its client
     * believes to have failed, and a restart would write it over what came later.
     */
    synchronized void seal() {
        sealed = true;
    }

    /** Tries the first write again now, unless it is being tried. */
    void retry() {
        synchronized (this) {
            timer = null;
        }
        goOn();
    }

    /**
     * Discards a write, so that the store never gets it. No try of it begins meanwhile. The stage
     * completes once the log has recorded that; after a failure the write stays.
     *
     * @param onAccepted runs at once, before the record, if the write can be discarded
     * @return null if a try of the write is under way, or it is not pending any more
     */
    @Nullable
    CompletionStage<?> tryDiscard(PendingWrite write, Runnable onAccepted) {
        synchronized (this) {
            boolean isTried = busy && write.equals(entries.peek());
            if (isTried || closed || !entries.contains(write) || !leaving.add(write)) {
                return null;
            }
            onAccepted.run();
        }
        return steps.forget(write).whenComplete((_, failure) -> left(write, failure == null));
    }

    private void left(PendingWrite write, boolean isDiscarded) {
        boolean isInDoubt;
        List<Turn> copies = List.of();
        synchronized (this) {
            leaving.remove(write);
            if (isDiscarded && write.equals(entries.peek())) {
                // The pause was this write's.
                pause = FIRST_PAUSE;
                timer = null;
            }
            if (isDiscarded) {
                copies = copiesBehind(write);
                entries.removeAll(copies);
                entries.remove(write);
            }
            isInDoubt = doubts.containsKey(write);
        }
        if (isDiscarded) {
            write.discarded(isInDoubt ? WriteOutcome.UNKNOWN : WriteOutcome.DONE);
            copies.forEach(copy -> copy.refuse(PendingWrite.refusedAsDiscarded()));
        }
        goOn();
    }

    /** Returns the requests that wait to copy what the write would have stored. */
    private List<Turn> copiesBehind(PendingWrite write) {
        return entries.stream()
                .dropWhile(entry -> !entry.equals(write))
                .filter(entry -> entry instanceof Turn turn && turn.copies(write.key()))
                .map(Turn.class::cast)
                .toList();
    }

    /** Sends nothing more; requests that wait end by their own time. */
    synchronized void close() {
        closed = true;
    }

    private void goOn() {
        Entry next = next();
        while (next != null) {
            if (next instanceof PendingWrite write) {
                attempt(write);
                return;
            }
            take((Turn) next);
            next = next();
        }
    }

    /** Returns the entry to begin now; null if there is none, or it has to wait. */
    private synchronized @Nullable Entry next() {
        Entry first = entries.peek();
        if (first == null || busy || closed || sealed || timer != null) {
            return null;
        }
        if (first instanceof PendingWrite write
                && (leaving.contains(write) || unclear.isOut(write.key()))) {
            return null;
        }
        if (isInDoubt(first.key(), first)) {
            rest(doubtEnd());
            return null;
        }
        long unclearNanos = first instanceof PendingWrite
                ? unclear.leftNanos(first.key(), nanoClock.getAsLong())
                : 0;
        if (unclearNanos > 0) {
            rest(Duration.ofNanos(unclearNanos));
            return null;
        }
        if (first instanceof Turn) {
            turns++;
            return entries.remove();
        }
        busy = turns == 0;
        return busy ? first : null;
    }

    private boolean isInDoubt(String key, @Nullable Entry asking) {
        long now = nanoClock.getAsLong();
        doubts.values().removeIf(until -> until - now <= 0);
        return doubts.keySet().stream().anyMatch(by -> !by.equals(asking) && by.touches(key));
    }

    private Duration doubtEnd() {
        long now = nanoClock.getAsLong();
        return Duration.ofNanos(doubts.values()
                .stream()
                .mapToLong(until -> until - now)
                .min()
                .orElse(0));
    }

    private synchronized void doubt(Entry entry) {
        doubts.put(entry, nanoClock.getAsLong() + DOUBT.toNanos());
    }

    /** Lets nothing begin for a time. */
    private synchronized void rest(Duration wait) {
        Object started = new Object();
        timer = started;
        steps.later(() -> {
            synchronized (this) {
                if (!started.equals(timer)) {
                    return;
                }
                timer = null;
            }
            goOn();
        }, wait);
    }

    private void take(Turn turn) {
        turn.take().whenComplete((isUnknown, _) -> {
            if (Boolean.TRUE.equals(isUnknown)) {
                doubt(turn);
            }
            synchronized (this) {
                turns--;
            }
            goOn();
        });
    }

    private void attempt(PendingWrite first) {
        tried(first).whenComplete((outcome, failure) -> {
            if (failure != null) {
                failed(first, new StoreWriter.Outcome.Failed("internal: " + failure, true));
            } else if (outcome instanceof StoreWriter.Outcome.Failed fault) {
                failed(first, fault);
            } else {
                written(first);
            }
        });
    }

    private CompletionStage<StoreWriter.Outcome> tried(PendingWrite first) {
        try {
            return steps.write(first);
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedStage(e);
        }
    }

    private void written(PendingWrite first) {
        first.problem("");
        steps.forget(first).whenComplete((_, failure) -> {
            if (failure != null) {
                // The log has failed. Until a restart the write stays pending, so that a later
                // write of the key cannot be undone by writing this one again.
                first.problem("the store has it, and the log cannot record that");
                seal();
                return;
            }
            boolean isInDoubt;
            synchronized (this) {
                entries.remove(first);
                pause = FIRST_PAUSE;
                busy = false;
                isInDoubt = doubts.containsKey(first);
            }
            first.end(isInDoubt ? WriteOutcome.UNKNOWN : WriteOutcome.DONE);
            goOn();
        });
    }

    private void failed(PendingWrite first, StoreWriter.Outcome.Failed fault) {
        synchronized (this) {
            if (closed) {
                // The stores close too: that is no problem of the write.
                return;
            }
        }
        String problem = fault.problem();
        if (!problem.isEmpty() && !problem.equals(first.problem())) {
            LOG.error("{}/{} at {} was acknowledged at disk and cannot be written: {}; it is kept"
                    + " and retried", first.name().bucket(), first.name().key(),
                    first.name().backend(), problem);
        }
        first.problem(problem);
        synchronized (this) {
            if (fault.isUnknown()) {
                doubt(first);
            }
            busy = false;
            rest(pause);
            pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0
                    ? pause.multipliedBy(2)
                    : LONGEST_PAUSE;
        }
    }
}
