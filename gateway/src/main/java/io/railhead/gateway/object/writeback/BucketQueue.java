package io.railhead.gateway.object.writeback;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pending writes of one bucket, which reach the store one after the other, in the order in
 * which they were acknowledged. Any thread. A write that the store refuses holds up those behind
 * it: nothing overtakes.
 */
final class BucketQueue {
    private static final Logger LOG = LoggerFactory.getLogger(BucketQueue.class);
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(60);

    private final Steps steps;
    private final TreeMap<Long, PendingWrite> pending = new TreeMap<>(); // guarded by this
    private boolean busy; // guarded by this
    private boolean closed; // guarded by this
    private Duration pause = FIRST_PAUSE; // guarded by this

    /** The steps of a queue, none of which blocks. */
    interface Steps {

        /** Writes to the store; never fails. */
        CompletionStage<StoreWriter.Outcome> write(PendingWrite next);

        /** Forgets a write for good. The stage fails if the log cannot. */
        CompletionStage<?> forget(PendingWrite written);

        /** Runs a step after a pause. */
        void later(Runnable step, Duration pause);
    }

    BucketQueue(Steps steps) {
        this.steps = steps;
    }

    void add(PendingWrite write) {
        synchronized (this) {
            pending.put(write.sequence(), write);
        }
        goOn();
    }

    synchronized List<PendingWrite> all() {
        return new ArrayList<>(pending.values());
    }

    /** Returns the write behind which nothing waits; null for none. */
    synchronized @Nullable PendingWrite last() {
        return pending.isEmpty() ? null : pending.lastEntry().getValue();
    }

    synchronized boolean isStuck() {
        return !pending.isEmpty() && !pending.firstEntry().getValue().problem().isEmpty();
    }

    /** Tries the first write again now, unless it is being tried. */
    void retry() {
        goOn();
    }

    synchronized void close() {
        closed = true;
    }

    private void goOn() {
        PendingWrite first;
        synchronized (this) {
            if (busy || closed || pending.isEmpty()) {
                return;
            }
            busy = true;
            first = pending.firstEntry().getValue();
        }
        attempt(first).whenComplete((outcome, failure) -> {
            if (failure != null) {
                failed(first, new StoreWriter.Outcome.Refused("internal: " + failure));
            } else if (outcome instanceof StoreWriter.Outcome.Written) {
                written(first);
            } else {
                failed(first, outcome);
            }
        });
    }

    private CompletionStage<StoreWriter.Outcome> attempt(PendingWrite first) {
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
                return;
            }
            synchronized (this) {
                pending.remove(first.sequence());
                pause = FIRST_PAUSE;
                busy = false;
            }
            first.end();
            goOn();
        });
    }

    private void failed(PendingWrite first, StoreWriter.Outcome outcome) {
        Duration wait;
        synchronized (this) {
            busy = false;
            wait = pause;
            pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0
                    ? pause.multipliedBy(2)
                    : LONGEST_PAUSE;
        }
        String problem = outcome instanceof StoreWriter.Outcome.Refused(String reason)
                ? reason
                : "";
        if (!problem.isEmpty() && !problem.equals(first.problem())) {
            LOG.error("{}/{} at {} was acknowledged at disk and cannot be written: {}; it is kept"
                    + " and retried", first.name().bucket(), first.name().key(),
                    first.name().backend(), problem);
        }
        first.problem(problem);
        steps.later(this::goOn, wait);
    }
}
