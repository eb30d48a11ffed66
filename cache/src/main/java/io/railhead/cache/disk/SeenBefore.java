package io.railhead.cache.disk;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The pages that memory gave up before, remembered as bits in two generations. It forgets the older
 * one once the younger is full, and it may take a page for another. Any thread.
 */
final class SeenBefore {
    private static final int BITS_PER_PAGE = 4;

    private final long bits;
    private final int fullAt;
    private final AtomicLongArray[] generations;
    private final AtomicInteger added = new AtomicInteger();
    private volatile int young;

    /** @param pages how many pages are remembered at least */
    SeenBefore(long pages) {
        this.bits = bits(pages);
        this.fullAt = (int) Math.min(Integer.MAX_VALUE, Math.max(1 << 10, pages));
        this.generations = new AtomicLongArray[]{words(), words()};
    }

    private static long bits(long pages) {
        return Math.min(1L << 33, Math.max(1 << 12, pages * BITS_PER_PAGE));
    }

    /** Returns the memory for so many pages: two generations. */
    static long bytes(long pages) {
        return 2 * bits(pages) / Byte.SIZE;
    }

    private AtomicLongArray words() {
        return new AtomicLongArray((int) Math.ceilDiv(bits, Long.SIZE));
    }

    /** Remembers a page; returns whether it was remembered already. */
    boolean again(PageIdentity identity) {
        long bit = Math.unsignedMultiplyHigh(identity.low(), bits);
        int word = (int) (bit / Long.SIZE);
        long mask = 1L << bit;
        int now = young;
        if ((generations[now].getAndUpdate(word, bitsBefore -> bitsBefore | mask) & mask) != 0) {
            return true;
        }
        boolean before = (generations[1 - now].get(word) & mask) != 0;
        added.incrementAndGet();
        return before;
    }

    /** Forgets the older generation if the younger is full. One thread, which may take its time. */
    void turnIfFull() {
        if (added.get() < fullAt) {
            return;
        }
        int next = 1 - young;
        AtomicLongArray old = generations[next];
        for (int i = 0; i < old.length(); i++) {
            old.setPlain(i, 0);
        }
        young = next;
        added.set(0);
    }
}
