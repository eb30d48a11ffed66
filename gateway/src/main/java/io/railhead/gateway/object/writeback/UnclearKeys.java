package io.railhead.gateway.object.writeback;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The keys that requests which went to the store at once may change there: those that are out, and
 * those without a clear answer. Of too many of the latter, all keys count as such. Not thread-safe.
 */
final class UnclearKeys {
    private static final int MOST = 10_000;
    private static final String ANY = "";

    /** The moment in nanoseconds at which each one's doubt ends, the earliest first. */
    private final Map<String, Long> ends = new LinkedHashMap<>();

    private final Map<String, Integer> out = new HashMap<>();

    /**
     * Counts a request that is out; {@link #end} must follow.
     *
     * @param key decoded; "" for any
     */
    void begin(String key) {
        out.merge(key, 1, Integer::sum);
    }

    void end(String key) {
        out.computeIfPresent(key, (_, count) -> count == 1 ? null : count - 1);
    }

    /** Returns whether a request that may change a key is out. */
    boolean isOut(String key) {
        return out.containsKey(key) || out.containsKey(ANY);
    }

    /** @param key decoded; "" for any */
    void add(String key, long nowNanos) {
        forget(nowNanos);
        String noted = ends.size() < MOST ? key : ANY;
        if (!noted.equals(key)) {
            ends.clear();
        }
        ends.remove(noted);
        ends.put(noted, nowNanos + BucketQueue.DOUBT.toNanos());
    }

    /** Returns the time for which a key may still change; 0 for none. */
    long leftNanos(String key, long nowNanos) {
        forget(nowNanos);
        return Math.max(left(key, nowNanos), left(ANY, nowNanos));
    }

    private long left(String key, long nowNanos) {
        Long end = ends.get(key);
        return end == null ? 0 : end - nowNanos;
    }

    private void forget(long nowNanos) {
        var oldest = ends.values().iterator();
        while (oldest.hasNext() && oldest.next() - nowNanos <= 0) {
            oldest.remove();
        }
    }
}
