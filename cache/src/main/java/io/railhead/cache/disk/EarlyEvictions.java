package io.railhead.cache.disk;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Evictions by name that came before a volume was open. If there are too many, everything that the
 * volume holds is evicted. Its user's lock.
 */
final class EarlyEvictions {
    private static final int MOST = 4096;

    private final Set<EvictedNames> names = new HashSet<>();
    private boolean everything;

    void add(EvictedNames evicted) {
        if (names.size() == MOST) {
            everything = true;
            names.clear();
        }
        if (!everything) {
            names.add(evicted);
        }
    }

    void applyTo(VolumeService volume) {
        if (everything) {
            volume.evictEverything();
        }
        for (EvictedNames each : names) {
            CompletableFuture<Boolean> _ = volume.evict(each);
        }
    }

    void clear() {
        names.clear();
        everything = false;
    }
}
