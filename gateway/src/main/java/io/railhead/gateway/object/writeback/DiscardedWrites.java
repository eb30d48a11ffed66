package io.railhead.gateway.object.writeback;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The objects that an administrator has discarded, so that no flush of their writer calls them
 * stored. One leaves once a later write of its key has taken its place; of too many, those of the
 * oldest key leave. Not kept over a restart. Any thread; calls nothing else.
 */
final class DiscardedWrites {
    private static final int MOST = 10_000;

    private final Map<PendingName.Identity, List<Discarded>> byKey = new LinkedHashMap<>(); // guarded
                                                                                            // by
                                                                                            // this
    private long newest; // guarded by this

    /**
     * One object, without its bytes and parts.
     *
     * @param sequence its place in the order of acknowledgements
     */
    record Discarded(String principal, PendingName.Identity name, long sequence) {
        private static Discarded of(PendingWrite write) {
            return new Discarded(write.write().head().principal(), write.name().identity(),
                    write.sequence());
        }
    }

    synchronized void add(PendingWrite write) {
        Discarded discarded = Discarded.of(write);
        byKey.computeIfAbsent(discarded.name(), _ -> new ArrayList<>()).add(discarded);
        if (byKey.size() > MOST) {
            Iterator<List<Discarded>> oldest = byKey.values().iterator();
            oldest.next();
            oldest.remove();
        }
    }

    /** Takes back what is not discarded after all. */
    synchronized void remove(PendingWrite write) {
        Discarded discarded = Discarded.of(write);
        removeIf(write.name().identity(), discarded::equals);
    }

    /** Returns the place of the newest acknowledged write, behind which a request comes now. */
    synchronized long newest() {
        return newest;
    }

    /**
     * Forgets its writer's earlier objects of that key, since it is acknowledged in their place.
     */
    synchronized void acknowledged(PendingWrite write) {
        newest = Math.max(newest, write.sequence());
        removeIf(write.name().identity(), earlier -> write.isOf(earlier.principal())
                && earlier.sequence() < write.sequence());
    }

    /** Forgets all earlier objects of that key, since the store has this one in their place. */
    synchronized void stored(PendingWrite write) {
        removeIf(write.name().identity(), earlier -> earlier.sequence() < write.sequence());
    }

    /**
     * Forgets a key's objects, since the store has been told of a later state.
     *
     * @param through {@link #newest} before the request that told it
     */
    synchronized void changed(PendingName.Identity name, long through) {
        removeIf(name, earlier -> earlier.sequence() <= through);
    }

    private void removeIf(PendingName.Identity name, Predicate<Discarded> leaves) {
        byKey.computeIfPresent(name, (_, discarded) -> {
            discarded.removeIf(leaves);
            return discarded.isEmpty() ? null : discarded;
        });
    }

    /** Returns one of those that match; null for none. */
    synchronized @Nullable Discarded find(Predicate<Discarded> matching) {
        return byKey.values()
                .stream()
                .flatMap(Collection::stream)
                .filter(matching)
                .findFirst()
                .orElse(null);
    }
}
