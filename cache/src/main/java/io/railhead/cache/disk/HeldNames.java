package io.railhead.cache.disk;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.railhead.os.Mapping;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.LongFunction;

/**
 * A counting filter of the objects that have pages on a volume: it may say yes for others, and says
 * no only for objects that have none. A reader of an object whose version is unknown asks the store
 * for that first, rather than for bytes that the disk has. Any thread.
 *
 * <p> An object is added once for each segment that has pages of it, so few use up their counters:
 * those of a gigabyte and more, for which it says yes until the next start. A full disk of objects
 * of one page each is the worst case. Outside the heap, as the index is.
 */
final class HeldNames implements AutoCloseable {
    /** A counter that has reached this stays there. */
    private static final int STUCK = 0xf;
    private static final int COUNTER_BITS = 4;
    private static final int COUNTERS_PER_INT = Integer.SIZE / COUNTER_BITS;
    private static final int LINE_BITS = 7;
    private static final int COUNTERS_PER_LINE = 1 << LINE_BITS;
    /** With so many hashes, one of 23 answers is wrong at worst. */
    private static final int COUNTERS_PER_PAGE = 7;
    private static final int HASHES = 4;
    private static final VarHandle INT = JAVA_INT.varHandle();

    private final Mapping counters;
    private final int count;

    /** @param anonymous makes memory outside the heap */
    HeldNames(long pages, LongFunction<Mapping> anonymous) {
        this.count = count(pages);
        this.counters = anonymous.apply(bytes());
    }

    private static int count(long pages) {
        long wanted = Math.clamp(COUNTERS_PER_PAGE * pages, 1 << 10, 1L << 30);
        return (int) (wanted - wanted % COUNTERS_PER_LINE);
    }

    /** Returns the memory for so many pages, outside the heap. */
    static long bytes(long pages) {
        return (long) count(pages) / COUNTERS_PER_INT * Integer.BYTES;
    }

    /** Returns the bytes that it takes outside the heap. */
    long bytes() {
        return (long) count / COUNTERS_PER_INT * Integer.BYTES;
    }

    /** Returns the place of one of an object's counters: all lie in one line of the processor's. */
    private int at(long hash, int number) {
        long line = Math.unsignedMultiplyHigh(hash, count / COUNTERS_PER_LINE);
        long inLine = (hash * 0x9E3779B97F4A7C15L) >>> (Integer.SIZE - number * LINE_BITS);
        return (int) (line * COUNTERS_PER_LINE + (inLine & (COUNTERS_PER_LINE - 1)));
    }

    boolean mayHold(long hash) {
        try {
            for (int i = 0; i < HASHES; i++) {
                if (counter(at(hash, i)) == 0) {
                    return false;
                }
            }
            return true;
        } catch (IllegalStateException closed) {
            // Readers take no lock, so the end may come between any two looks.
            return false;
        }
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

    private static long offset(int at) {
        return (long) (at / COUNTERS_PER_INT) * Integer.BYTES;
    }

    private int counter(int at) {
        return (int) INT.getVolatile(counters.segment(), offset(at)) >>> shift(at) & STUCK;
    }

    private void change(int at, int by) {
        MemorySegment memory = counters.segment();
        int before;
        int now;
        do {
            before = (int) INT.getVolatile(memory, offset(at));
            now = before >>> shift(at) & STUCK;
        } while (now != STUCK && now + by >= 0 && !INT.compareAndSet(memory, offset(at), before,
                before + (by << shift(at))));
    }

    private static int shift(int at) {
        return at % COUNTERS_PER_INT * COUNTER_BITS;
    }

    /** Frees the memory: it then holds nothing. */
    @Override
    public void close() {
        counters.close();
    }
}
