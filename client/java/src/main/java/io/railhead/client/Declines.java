package io.railhead.client;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** Counts why one-sided delivery was not used: a silent fallback would make figures lie. */
final class Declines {
    private final ConcurrentHashMap<String, Long> reasons = new ConcurrentHashMap<>();

    void count(String reason) {
        reasons.merge(reason, 1L, Long::sum);
    }

    Map<String, Long> snapshot() {
        return new TreeMap<>(reasons);
    }
}
