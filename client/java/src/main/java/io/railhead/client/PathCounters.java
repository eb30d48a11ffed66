package io.railhead.client;

import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts how parts were delivered, and the cache results of read ones: a silent fallback to HTTP
 * would falsify measurements. Any thread.
 */
final class PathCounters {
    private final Via via;
    private final Fallback fallback;
    private final LongAdder asAsked = new LongAdder();
    private final ConcurrentHashMap<String, Long> overHttp = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, Long> cacheResults = new ConcurrentHashMap<>();

    PathCounters(Via via, Fallback fallback) {
        this.via = via;
        this.fallback = fallback;
    }

    void asAsked() {
        asAsked.increment();
    }

    /** Counts a part that falls back to HTTP; throws if no fallback is allowed. */
    void overHttp(String reason) throws IOException {
        if (fallback == Fallback.NONE) {
            throw new PermanentException("not served via " + via + ": " + reason);
        }
        overHttp.merge(reason, 1L, Long::sum);
    }

    /** Counts a read part by its cache result, such as {@code HIT}. */
    void read(String cacheResult) {
        cacheResults.merge(cacheResult.toLowerCase(Locale.ROOT), 1L, Long::sum);
    }

    Map<String, Long> cacheResults() {
        return new TreeMap<>(cacheResults);
    }

    long parts() {
        return asAsked.sum() + overHttp.values().stream().mapToLong(Long::longValue).sum();
    }

    Map<String, Long> declines() {
        return new TreeMap<>(overHttp);
    }
}
