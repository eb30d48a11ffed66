package io.railhead.rdma.session;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Principals that may not use RDMA for a while, after repeated access errors. Each such error costs
 * a queue pair, and a principal that guesses keys causes many. Entries expire after the durations
 * below. Any thread; lookups take no lock, since every request with a token makes one.
 */
final class Suspensions {
    /** The number of errors within {@link #WATCHED} that suspends for {@link #SUSPENDED}. */
    static final int ERRORS = 5;
    static final Duration WATCHED = Duration.ofMinutes(1);
    static final Duration SUSPENDED = Duration.ofMinutes(1);

    private final LongSupplier nanoClock;
    /** Guarded by this object's monitor. */
    private final Map<String, Deque<Long>> errors = new HashMap<>();
    private final Map<String, Long> until = new ConcurrentHashMap<>();

    Suspensions(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Counts an error; returns whether this one suspends the principal. */
    synchronized boolean accessError(String principal) {
        long now = nanoClock.getAsLong();
        forgetOld(now);
        if (until.containsKey(principal)) {
            return false;
        }
        Deque<Long> times = errors.computeIfAbsent(principal, _ -> new ArrayDeque<>());
        times.add(now);
        if (times.size() < ERRORS) {
            return false;
        }
        errors.remove(principal);
        until.put(principal, now + SUSPENDED.toNanos());
        return true;
    }

    boolean isSuspended(String principal) {
        Long end = until.get(principal);
        return end != null && end - nanoClock.getAsLong() > 0;
    }

    private void forgetOld(long now) {
        until.values().removeIf(end -> end - now <= 0);
        errors.values()
                .forEach(
                        times -> times.removeIf(time -> now - time >= WATCHED.toNanos()));
        errors.values().removeIf(Deque::isEmpty);
    }
}
