package io.railhead.client;

import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts how parts went, and what the gateway's cache had to do with those that were read: a silent
 * fallback to HTTP would make figures lie. Any thread.
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

    /** Counts a part that goes over HTTP instead; throws where it may not. */
    void overHttp(String reason) throws IOException {
        if (fallback == Fallback.NONE) {
            throw new PermanentException("not served via " + via + ": " + reason);
        }
        overHttp.merge(reason, 1L, Long::sum);
    }

    /** Counts a part that was read by what the cache had to do with it, such as {@code HIT}. */
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
