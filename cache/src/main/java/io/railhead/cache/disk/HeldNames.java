package io.railhead.cache.disk;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * A counting filter of the objects that have pages on a volume: it may say yes for others, and says
 * no only for objects that have none. A reader of an object whose version is unknown asks the store
 * for that first, rather than for bytes that the disk has. Any thread; changes come from one.
 *
 * <p> An object is added once for each segment that has pages of it, so a large one does not use up
 * its counters. A full disk of objects of one page each is the worst case.
 */
final class HeldNames {
    /** A counter that has reached this stays there. */
    private static final int STUCK = 0xff;
    /** Bytes, with a counter each. With so many hashes, one of 28 answers is wrong at worst. */
    private static final int COUNTERS_PER_PAGE = 7;
    private static final int HASHES = 4;

    private final AtomicIntegerArray counters;
    private final int count;

    HeldNames(long pages) {
        this.count = (int) bytes(pages);
        this.counters = new AtomicIntegerArray(Math.ceilDiv(count, Integer.BYTES));
    }

    /** Returns the memory for so many pages: a byte for each counter. */
    static long bytes(long pages) {
        return Math.min(1L << 30, Math.max(1 << 10, COUNTERS_PER_PAGE * pages));
    }

    /** Returns the place of one of an object's counters. */
    private int at(long hash, int number) {
        long step = Long.rotateLeft(hash, 32) * 0x9E3779B97F4A7C15L | 1;
        return (int) Math.unsignedMultiplyHigh(hash + number * step, count);
    }

    boolean mayHold(long hash) {
        for (int i = 0; i < HASHES; i++) {
            if (counter(at(hash, i)) == 0) {
                return false;
            }
        }
        return true;
    }

    void add(long hash) {
        change(hash, 1);
    }

    void remove(long hash) {
        change(hash, -1);
    }

    private void change(long hash, int by) {
        for (int i = 0; i < HASHES; i++) {
            change(at(hash, i), by);
        }
    }

    private int counter(int at) {
        return counters.get(at / Integer.BYTES) >>> shift(at) & STUCK;
    }

    private void change(int at, int by) {
        int now = counter(at);
        boolean mayChange = now != STUCK && now + by >= 0;
        if (mayChange) {
            counters.addAndGet(at / Integer.BYTES, by << shift(at));
        }
    }

    private static int shift(int at) {
        return at % Integer.BYTES * Byte.SIZE;
    }
}
