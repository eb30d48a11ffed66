package io.railhead.gateway.object.writeback;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The pending writes of each key, in the order of their acknowledgements. A discarded one leaves
 * those before it. Any thread.
 */
final class PendingKeys {
    private final ConcurrentMap<PendingName.Identity, List<PendingWrite>> writes = new ConcurrentHashMap<>();

    void add(PendingWrite write) {
        writes.merge(write.name().identity(), List.of(write), PendingKeys::joined);
    }

    private static List<PendingWrite> joined(List<PendingWrite> before, List<PendingWrite> more) {
        List<PendingWrite> all = new ArrayList<>(before);
        all.addAll(more);
        return List.copyOf(all);
    }

    void remove(PendingWrite write) {
        writes.computeIfPresent(write.name().identity(), (_, before) -> {
            List<PendingWrite> left = before.stream().filter(other -> other != write).toList();
            return left.isEmpty() ? null : left;
        });
    }

    /** Returns the newest pending write of a key; null for none. */
    @Nullable
    PendingWrite newest(PendingName name) {
        List<PendingWrite> found = writes.isEmpty() ? null : writes.get(name.identity());
        return found == null ? null : found.getLast();
    }
}
