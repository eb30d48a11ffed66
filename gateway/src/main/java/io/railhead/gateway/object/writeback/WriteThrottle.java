package io.railhead.gateway.object.writeback;

import io.railhead.backend.TokenBucket;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Spaces the requests that write pending objects to one store: by a rate, and behind reads that
 * wait for that store. They go on in the order in which they came. Each one gives way for a time
 * that begins when it comes, so those that came together go on together. Any thread; nothing
 * blocks.
 *
 * <p> A request that has begun is never paused, since stores give up on idle bodies. So the rate is
 * an average. Its bytes count as sent when it begins, and those that were not sent are given back
 * at its end.
 */
final class WriteThrottle {
    /** The bound of one request's wait for reads: without it a busy store would get no write. */
    static final Duration LONGEST_YIELD = Duration.ofSeconds(1);
    /** The bound of one pause: bytes that are given back may end the wait for the rate early. */
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final long LOOK_NANOS = Duration.ofMillis(20).toNanos();

    private final @Nullable TokenBucket rate;
    private final IntSupplier readsWaiting;
    private final LongSupplier nanoClock;
    private final BiConsumer<Runnable, Duration> timer;
    private final LongAdder yieldedNanos;
    private final Deque<Waiting> waiting = new ArrayDeque<>(); // guarded by this
    private boolean paused; // guarded by this
    private long lookedAtNanos; // guarded by this; the last look
    private long allYieldNanos; // guarded by this; the time in which any waited for reads
    private boolean yielding; // guarded by this; since the last look

    /** @param yieldBeforeNanos the time in which others had waited for reads as it came */
    private record Waiting(long bytes, long yieldBeforeNanos,
            CompletableFuture<@Nullable Void> turn) {}

    /**
     * @param bytesPerSecond 0 for no limit
     * @param readsWaiting the reads that wait for the store now
     * @param timer runs a step after a pause
     * @param yieldedNanos counts the time in which writes waited for reads
     */
    WriteThrottle(long bytesPerSecond, IntSupplier readsWaiting, LongSupplier nanoClock,
            BiConsumer<Runnable, Duration> timer, LongAdder yieldedNanos) {
        this.rate = bytesPerSecond == 0 ? null : new TokenBucket(bytesPerSecond, nanoClock);
        this.readsWaiting = readsWaiting;
        this.nanoClock = nanoClock;
        this.timer = timer;
        this.yieldedNanos = yieldedNanos;
    }

    /** Completes when a request of so many bytes may begin, which then counts as sent. */
    CompletionStage<@Nullable Void> admit(long bytes) {
        Waiting asking;
        synchronized (this) {
            countYield();
            asking = new Waiting(bytes, allYieldNanos, new CompletableFuture<>());
            waiting.add(asking);
        }
        goOn();
        return asking.turn;
    }

    /** Takes back bytes of an admitted request that were not sent. */
    void giveBack(long bytes) {
        if (rate != null) {
            rate.giveBack(bytes);
        }
    }

    private void goOn() {
        for (Waiting next = next(); next != null; next = next()) {
            next.turn.complete(null);
        }
    }

    private synchronized @Nullable Waiting next() {
        Waiting next = waiting.peek();
        if (paused || next == null) {
            return null;
        }
        long pauseNanos = pauseNanos(next);
        if (pauseNanos > 0) {
            paused = true;
            timer.accept(this::endPause, Duration.ofNanos(pauseNanos));
            return null;
        }
        if (rate != null) {
            rate.charge(next.bytes);
        }
        return waiting.remove();
    }

    private void endPause() {
        synchronized (this) {
            paused = false;
        }
        goOn();
    }

    /** Returns the time after which to look again; at most 0 if the first one may go now. */
    private long pauseNanos(Waiting first) {
        countYield();
        yielding = false;
        long rateNanos = rate == null ? 0 : rate.waitNanos();
        if (rateNanos > 0) {
            return Math.min(rateNanos, LONGEST_PAUSE.toNanos());
        }
        long yieldNanos = allYieldNanos - first.yieldBeforeNanos;
        yielding = yieldNanos < LONGEST_YIELD.toNanos() && readsWaiting.getAsInt() > 0;
        return yielding ? LOOK_NANOS : 0;
    }

    private void countYield() {
        long now = nanoClock.getAsLong();
        if (yielding) {
            yieldedNanos.add(now - lookedAtNanos);
            allYieldNanos += now - lookedAtNanos;
        }
        lookedAtNanos = now;
    }
}
