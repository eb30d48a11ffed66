package io.railhead.gateway.object.writeback;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The keys that requests without a clear answer may still change at the store. Of too many, all
 * keys count as such. Not thread-safe.
 */
final class UnclearKeys {
    private static final int MOST = 10_000;
    private static final String ANY = "";

    /** The moment in nanoseconds at which each one's doubt ends, the earliest first. */
    private final Map<String, Long> ends = new LinkedHashMap<>();

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
