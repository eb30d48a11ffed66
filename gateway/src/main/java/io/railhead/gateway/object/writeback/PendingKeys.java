package io.railhead.gateway.object.writeback;

import java.util.Deque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The pending writes of each key, in the order of their acknowledgements. A discarded one leaves
 * those before it. Any thread.
 */
final class PendingKeys {
    // Changed under the map's lock of its key, read without.
    private final ConcurrentMap<PendingName.Identity, Deque<PendingWrite>> writes = new ConcurrentHashMap<>();

    void add(PendingWrite write) {
        writes.compute(write.name().identity(), (_, before) -> {
            Deque<PendingWrite> all = before == null ? new ConcurrentLinkedDeque<>() : before;
            all.addLast(write);
            return all;
        });
    }

    void remove(PendingWrite write) {
        writes.computeIfPresent(write.name().identity(), (_, left) -> {
            // The oldest goes first but for a discard, so this seldom looks further than there.
            boolean _ = left.remove(write);
            return left.isEmpty() ? null : left;
        });
    }

    /** Returns the newest pending write of a key; null for none. */
    @Nullable
    PendingWrite newest(PendingName name) {
        Deque<PendingWrite> found = writes.isEmpty() ? null : writes.get(name.identity());
        return found == null ? null : found.peekLast();
    }
}
