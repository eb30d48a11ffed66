package io.railhead.cache.disk;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.railhead.os.Mapping;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The places of pages, outside the heap: 32 bytes for each, since a Java map would take more than
 * three times that. Any thread. Shards with a lock each, held for a few memory accesses.
 *
 * <pre>
 *    0 identity (16)   16 unit in the volume   20 length, 0 if the slot is empty
 *   24 CRC32C          28 the segment's sequence, low 32 bits
 * </pre>
 *
 * Linear probing. A removal moves later entries back, so that no slot stays marked and lookups stay
 * short for years.
 */
final class DiskIndex implements AutoCloseable {
    static final int ENTRY_BYTES = 32;
    private static final int SHARD_SLOTS = 1 << 16;
    private static final int MOST_SHARDS = 64;
    /** Above it, lookups of absent pages would grow long. */
    private static final double FULL = 0.85;
    /** The same of one shard: with many of them, some are a little fuller than all together. */
    private static final double SHARD_FULL = 0.92;
    /** A look at more would keep lookups waiting. */
    private static final int SLOTS_AT_ONCE = 8 << 10;

    private final Mapping memory;
    private final Shard[] shards;
    private final long slots;
    private final AtomicLong used = new AtomicLong();
    private final AtomicLong held = new AtomicLong();

    /**
     * A page's place.
     *
     * @param unit in the volume, unsigned
     * @param sequence the low 32 bits of the segment's sequence
     */
    record Place(int unit, int length, int crc, int sequence) {}

    /**
     * @param pages how many pages fit on the volume at full length. A quarter more find room, since
     *            some are shorter; where most are, the index is full before the disk.
     * @param anonymous makes memory outside the heap
     */
    DiskIndex(long pages, LongFunction<Mapping> anonymous) {
        long wanted = wanted(pages);
        int count = shards(wanted);
        long each = Math.ceilDiv(wanted, (long) count);
        this.slots = each * count;
        this.memory = anonymous.apply(slots * ENTRY_BYTES);
        this.shards = new Shard[count];
        for (int i = 0; i < count; i++) {
            shards[i] = new Shard(memory.segment()
                    .asSlice(i * each * ENTRY_BYTES, each * ENTRY_BYTES), each, used, held);
        }
    }

    private static long wanted(long pages) {
        return Math.max(64, pages + pages / 2);
    }

    private static int shards(long wanted) {
        int count = 1;
        while (count < MOST_SHARDS && wanted / count > SHARD_SLOTS) {
            count *= 2;
        }
        return count;
    }

    /** Returns the memory of the index of a volume with so many pages of full length. */
    static long bytes(long pages) {
        long wanted = wanted(pages);
        int count = shards(wanted);
        return Math.ceilDiv(wanted, (long) count) * count * ENTRY_BYTES;
    }

    private Shard shardOf(PageIdentity identity) {
        return shards[(int) identity.low() & (shards.length - 1)];
    }

    @Nullable
    Place find(PageIdentity identity) {
        return shardOf(identity).find(identity);
    }

    /**
     * Adds a page, or replaces its place in an older segment.
     *
     * @return false if there is no room
     */
    boolean put(PageIdentity identity, Place place) {
        return shardOf(identity).put(identity, place);
    }

    /** Removes a page if it still is at this unit. */
    boolean remove(PageIdentity identity, int unit) {
        return shardOf(identity).remove(identity, unit);
    }

    /** Returns whether another page has no room. */
    boolean isFull() {
        return used.get() >= slots * FULL;
    }

    /** Removes all pages in a range of units; reads the whole index. */
    void removeUnits(long from, long to) {
        removeIf(unit -> unit >= from && unit < to);
    }

    /** Removes all pages whose first unit is such; reads the whole index. */
    void removeIf(LongPredicate removed) {
        for (Shard shard : shards) {
            long slot = 0;
            while (slot >= 0) {
                slot = shard.removeIf(removed, slot);
            }
        }
    }

    long size() {
        return used.get();
    }

    long bytes() {
        return slots * ENTRY_BYTES;
    }

    /** Returns the length of all pages together. */
    long heldBytes() {
        return held.get();
    }

    /** Frees the memory: later lookups find nothing. */
    @Override
    public void close() {
        for (Shard shard : shards) {
            shard.close();
        }
        memory.close();
    }

    private static final class Shard {
        private final MemorySegment entries;
        private final long slots;
        private final AtomicLong usedByAll;
        private final AtomicLong heldByAll;
        private long used;
        private boolean closed;

        Shard(MemorySegment entries, long slots, AtomicLong usedByAll, AtomicLong heldByAll) {
            this.entries = entries;
            this.slots = slots;
            this.usedByAll = usedByAll;
            this.heldByAll = heldByAll;
        }

        private void count(int change) {
            used += change;
            usedByAll.addAndGet(change);
        }

        synchronized void close() {
            closed = true;
        }

        private long home(long high) {
            return Math.unsignedMultiplyHigh(high, slots);
        }

        private boolean isEmpty(long slot) {
            return entries.get(JAVA_INT, slot * ENTRY_BYTES + 20) == 0;
        }

        private boolean holds(long slot, PageIdentity identity) {
            return entries.get(JAVA_LONG, slot * ENTRY_BYTES) == identity.high()
                    && entries.get(JAVA_LONG, slot * ENTRY_BYTES + 8) == identity.low();
        }

        private Place place(long slot) {
            long at = slot * ENTRY_BYTES;
            return new Place(entries.get(JAVA_INT, at + 16), entries.get(JAVA_INT, at + 20),
                    entries.get(JAVA_INT, at + 24), entries.get(JAVA_INT, at + 28));
        }

        private long next(long slot) {
            return slot + 1 == slots ? 0 : slot + 1;
        }

        /** Returns the identity's slot, or the empty one where it would be. */
        private long slotOf(PageIdentity identity) {
            long slot = home(identity.high());
            while (!isEmpty(slot) && !holds(slot, identity)) {
                slot = next(slot);
            }
            return slot;
        }

        synchronized @Nullable Place find(PageIdentity identity) {
            if (closed) {
                return null;
            }
            long slot = slotOf(identity);
            return isEmpty(slot) ? null : place(slot);
        }

        synchronized boolean put(PageIdentity identity, Place place) {
            if (closed) {
                return false;
            }
            long slot = slotOf(identity);
            if (isEmpty(slot)) {
                if (used >= slots * SHARD_FULL) {
                    return false;
                }
                count(1);
            } else if (place(slot).sequence() - place.sequence() > 0) {
                return false;
            }
            long at = slot * ENTRY_BYTES;
            // An empty slot has length 0.
            heldByAll.addAndGet(place.length() - entries.get(JAVA_INT, at + 20));
            entries.set(JAVA_LONG, at, identity.high());
            entries.set(JAVA_LONG, at + 8, identity.low());
            entries.set(JAVA_INT, at + 16, place.unit());
            entries.set(JAVA_INT, at + 20, place.length());
            entries.set(JAVA_INT, at + 24, place.crc());
            entries.set(JAVA_INT, at + 28, place.sequence());
            return true;
        }

        synchronized boolean remove(PageIdentity identity, int unit) {
            if (closed) {
                return false;
            }
            long slot = slotOf(identity);
            if (isEmpty(slot) || place(slot).unit() != unit) {
                return false;
            }
            empty(slot);
            return true;
        }

        /**
         * Removes pages in some slots. Another thread's removal between two calls may move an entry
         * back past {@code start}: it stays until its segment's next turn, and is not found, since
         * its sequence is an old one.
         *
         * @return where to go on; -1 at the end
         */
        synchronized long removeIf(LongPredicate removed, long start) {
            long slot = start;
            long end = Math.min(slots, start + SLOTS_AT_ONCE);
            while (!closed && slot < end) {
                long unit = Integer.toUnsignedLong(entries.get(JAVA_INT, slot * ENTRY_BYTES + 16));
                if (!isEmpty(slot) && removed.test(unit)) {
                    // Another entry may have moved here: the slot is looked at again.
                    empty(slot);
                } else {
                    slot++;
                }
            }
            return closed || end == slots ? -1 : end;
        }

        /** Empties a slot, and moves back each later entry that would not be found any more. */
        private void empty(long start) {
            long hole = start;
            heldByAll.addAndGet(-entries.get(JAVA_INT, start * ENTRY_BYTES + 20));
            for (long slot = next(hole); !isEmpty(slot); slot = next(slot)) {
                long home = home(entries.get(JAVA_LONG, slot * ENTRY_BYTES));
                if (isOutside(home, hole, slot)) {
                    MemorySegment.copy(entries, slot * ENTRY_BYTES, entries, hole * ENTRY_BYTES,
                            ENTRY_BYTES);
                    hole = slot;
                }
            }
            entries.asSlice(hole * ENTRY_BYTES, ENTRY_BYTES).fill((byte) 0);
            count(-1);
        }

        /** Returns whether {@code home} is not in {@code (hole, slot]}, on the ring. */
        private static boolean isOutside(long home, long hole, long slot) {
            return hole < slot ? home <= hole || home > slot : home <= hole && home > slot;
        }
    }
}
