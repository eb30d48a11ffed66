package io.railhead.gateway.object.writeback;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The objects that an administrator has discarded, so that no flush of their writer calls them
 * stored. One leaves once its writer has the key acknowledged anew; of too many, the oldest leave.
 * Not kept over a restart. Any thread.
 */
final class DiscardedWrites {
    private static final int MOST = 10_000;

    private final Map<Written, PendingWrite> newest = new LinkedHashMap<>(); // guarded by this

    private record Written(String principal, PendingName name) {
        private static Written of(PendingWrite write) {
            return new Written(write.write().head().principal(), write.name());
        }
    }

    synchronized void add(PendingWrite write) {
        newest.put(Written.of(write), write);
        if (newest.size() > MOST) {
            Iterator<PendingWrite> oldest = newest.values().iterator();
            oldest.next();
            oldest.remove();
        }
    }

    synchronized void remove(PendingWrite write) {
        newest.remove(Written.of(write), write);
    }

    /** Forgets the key's discarded object, since this one has taken its place. */
    synchronized void replacedBy(PendingWrite write) {
        newest.remove(Written.of(write));
    }

    /** Returns one of those that match. */
    synchronized Optional<PendingWrite> find(Predicate<PendingWrite> matching) {
        return newest.values().stream().filter(matching).findFirst();
    }
}
