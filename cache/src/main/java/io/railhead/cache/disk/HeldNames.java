package io.railhead.cache.disk;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * A counting filter of the objects that have pages on a volume: it may say yes for others, and says
 * no only for objects that have none. A reader of an object whose version is unknown asks the store
 * for that first, rather than for bytes that the disk has. Any thread; changes come from one.
 */
final class HeldNames {
    /** A counter that has reached this stays there. */
    private static final int STUCK = 0xff;

    private final AtomicIntegerArray counters;
    private final int count;

    HeldNames(long pages) {
        this.count = (int) Math.min(1L << 30, Math.max(1 << 10, 2 * pages));
        this.counters = new AtomicIntegerArray(Math.ceilDiv(count, Integer.BYTES));
    }

    private int first(long hash) {
        return (int) Math.unsignedMultiplyHigh(hash, count);
    }

    private int second(long hash) {
        return (int) Math.unsignedMultiplyHigh(hash * 0x9E3779B97F4A7C15L, count);
    }

    boolean mayHold(long hash) {
        return counter(first(hash)) > 0 && counter(second(hash)) > 0;
    }

    void add(long hash) {
        change(first(hash), 1);
        change(second(hash), 1);
    }

    void remove(long hash) {
        change(first(hash), -1);
        change(second(hash), -1);
    }

    long bytes() {
        return (long) counters.length() * Integer.BYTES;
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
