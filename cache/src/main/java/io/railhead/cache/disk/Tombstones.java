package io.railhead.cache.disk;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The evictions by name that a volume must remember, since an index of hashes cannot tell which
 * pages a prefix covers. Any thread.
 *
 * <p> Each eviction takes a number. A segment is stamped with the number in force when it was
 * sealed, and has no page then that an earlier eviction covers. So an eviction covers the pages of
 * segments with a lower stamp. Numbers start with the epoch in the high half: a number that a crash
 * lost is not used again, whatever stamps it left.
 *
 * <p> Names are kept as keyed hashes: the disk tells none of them.
 */
final class Tombstones {
    /** The kind of an eviction of one key; a prefix has its length there. */
    static final int KEY = -1;
    /** The kind of an eviction of everything that is older. */
    static final int EVERYTHING = -2;
    static final int[] NO_LENGTHS = {};

    private final byte[] secret;
    private final LongSupplier nanoClock;
    private final ConcurrentMap<Name, Eviction> byName = new ConcurrentHashMap<>();
    private volatile int[] prefixLengths = NO_LENGTHS;
    private volatile long everything;
    private volatile long number;

    /** @param kind {@link #KEY}, {@link #EVERYTHING} or the length of a prefix */
    record Name(int kind, long high, long low) {}

    private record Eviction(long number, long atNanos) {}

    /** An eviction as it is on disk. */
    record Tombstone(Name name, long number) {}

    /** @param epoch the volume's, which no earlier process had */
    Tombstones(byte[] secret, long epoch, List<Tombstone> known, LongSupplier nanoClock) {
        this.secret = secret.clone();
        this.nanoClock = nanoClock;
        this.number = epoch << Integer.SIZE;
        long now = nanoClock.getAsLong();
        known.forEach(each -> put(each, now));
        findLengths();
    }

    private void put(Tombstone tombstone, long now) {
        if (tombstone.name().kind() == EVERYTHING) {
            everything = Math.max(everything, tombstone.number());
            return;
        }
        byName.merge(tombstone.name(), new Eviction(tombstone.number(), now),
                (one, other) -> one.number() > other.number() ? one : other);
    }

    /** Returns the number of the last eviction. */
    long number() {
        return number;
    }

    /** Returns the number below which all segments are hidden; 0 for none. */
    long everything() {
        return everything;
    }

    /** Takes a number without an eviction. */
    synchronized long next() {
        number = number + 1;
        return number;
    }

    /** Adds an eviction: from its return on, sealed segments do not show what it covers. */
    synchronized Tombstone add(EvictedNames names) {
        return add(switch (names.kind()) {
            case KEY -> hash(KEY, names.bucket(), names.name());
            case PREFIX -> hash(names.name().length(), names.bucket(), names.name());
        });
    }

    private Tombstone add(Name name) {
        Tombstone added = new Tombstone(name, number + 1);
        put(added, nanoClock.getAsLong());
        if (name.kind() >= 0) {
            findLengths();
        }
        number = added.number();
        return added;
    }

    /**
     * Widens the older half of the evictions to everything that is as old as they are, since there
     * are too many.
     *
     * @return the eviction that covers all of them
     */
    synchronized Tombstone widen() {
        long[] numbers = byName.values().stream().mapToLong(Eviction::number).sorted().toArray();
        long covered = numbers.length == 0 ? number : numbers[numbers.length / 2];
        Tombstone wide = new Tombstone(new Name(EVERYTHING, 0, 0), covered);
        put(wide, 0);
        byName.values().removeIf(each -> each.number() <= covered);
        findLengths();
        return wide;
    }

    /** Adds an eviction of everything that was written until now. */
    synchronized Tombstone addEverything() {
        return add(new Name(EVERYTHING, 0, 0));
    }

    /**
     * Forgets evictions that no page can meet any more.
     *
     * @param shown the lowest stamp of segments that are not hidden, and of pages that wait to be
     *            written
     * @param lowest the lowest stamp of all segments, and of those pages
     * @param beforeNanos younger ones are kept
     */
    synchronized void forget(long shown, long lowest, long beforeNanos) {
        byName.values()
                .removeIf(each -> each.number() <= shown && each.atNanos() - beforeNanos < 0);
        if (everything <= lowest) {
            everything = 0;
        }
        findLengths();
    }

    private void findLengths() {
        prefixLengths = byName.keySet()
                .stream()
                .mapToInt(Name::kind)
                .filter(kind -> kind >= 0)
                .sorted()
                .distinct()
                .toArray();
    }

    List<Tombstone> all() {
        List<Tombstone> all = new ArrayList<>();
        byName.forEach((name, each) -> all.add(new Tombstone(name, each.number())));
        if (everything > 0) {
            all.add(new Tombstone(new Name(EVERYTHING, 0, 0), everything));
        }
        return all;
    }

    int size() {
        return byName.size();
    }

    /** Returns the number of the last eviction that covers the object; 0 if none does. */
    long lastOver(CoveringNames names) {
        long last = everything;
        if (byName.isEmpty()) {
            return last;
        }
        last = Math.max(last, numberOf(names.key()));
        for (Name prefix : names.prefixes(prefixLengths)) {
            last = Math.max(last, numberOf(prefix));
        }
        return last;
    }

    private long numberOf(Name name) {
        @Nullable
        Eviction found = byName.get(name);
        return found == null ? 0 : found.number();
    }

    private Name hash(int kind, String bucket, String name) {
        return CoveringNames.hash(secret, kind, bucket, name);
    }
}
