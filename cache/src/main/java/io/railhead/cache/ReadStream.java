package io.railhead.cache;

import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The position of a sequential reader in an object, and the window that is fetched ahead of it.
 * Guarded by {@link ReadStreams}.
 *
 * <pre>
 *   0        next              next + window
 *   │ read so far │ fetched, or being so │ not yet ...
 * </pre>
 *
 * When less than half of the window lies ahead, the window is doubled. In all, at most a small
 * multiple of the bytes read is fetched. If fetched bytes are evicted before they are read, the
 * window shrinks.
 */
final class ReadStream {
    /** The number of sequential reads before anything is fetched. */
    private static final int SURE_AFTER = 2;
    private static final long FIRST_WINDOW = 1L << 20;
    /** The fetched bytes may be this multiple of the bytes read, plus a first window. */
    private static final int MOST_TIMES = 4;
    /** The most reads by which a parallel reader's request may be out of order. */
    private static final int REACH = 2;

    private final long sizeBytes;
    private final boolean sweep;
    private long next;
    private long longest;
    private int inOrder;
    private long windowBytes;
    private long mostWindowBytes = Long.MAX_VALUE;
    private long fetchedTo;
    private long readBytes;
    private long fetchedBytes;

    /** Bytes {@code [from, to)} of the object. */
    record Stretch(long from, long to) {}

    /**
     * A stream that starts with this read; at an object's start, it counts as the first of several.
     *
     * @param sweep whether all of the object will be read, in any order
     */
    ReadStream(long sizeBytes, boolean sweep, long from) {
        this.sizeBytes = sizeBytes;
        this.sweep = sweep;
        this.next = sweep ? 0 : from;
        this.inOrder = from == 0 ? 0 : -1;
    }

    /**
     * Returns whether a read continues this stream. A restart, or a read beyond the end, counts as
     * another reader, since the fetched bytes may be gone.
     */
    boolean continues(long from, long to) {
        if (next == sizeBytes || (from == 0 && next > 0)) {
            return false;
        }
        long reach = Math.max(windowBytes, REACH * (to - from));
        return sweep || (from >= next - reach && from <= next + reach);
    }

    /** Notes a read of this stream. */
    void read(long from, long to) {
        // In a sweep the order is unknown, so bytes are counted and positions ignored.
        next = sweep ? Math.min(sizeBytes, next + to - from) : Math.max(next, to);
        longest = Math.max(longest, to - from);
        readBytes += to - from;
        inOrder++;
    }

    /** Shrinks the window if the next bytes were fetched and are evicted already. */
    void look(LongPredicate there) {
        if (!sweep && next < Math.min(fetchedTo, sizeBytes) && !there.test(next)) {
            mostWindowBytes = Math.max(FIRST_WINDOW / 2, windowBytes / 4);
            windowBytes = mostWindowBytes / 2;
            fetchedTo = next;
        }
    }

    /** Returns whether a fetch is due now. */
    boolean wants() {
        boolean sure = sweep || (inOrder >= SURE_AFTER && fetchedBytes <= MOST_TIMES * readBytes);
        boolean enough = windowBytes > 0 && fetchedTo - next >= windowBytes / 2;
        return sure && !enough && Math.max(fetchedTo, next) < sizeBytes;
    }

    /** Returns the bytes to fetch now, and counts them as fetched; null for none. */
    @Nullable
    Stretch take(long maxWindowBytes) {
        if (!wants()) {
            return null;
        }
        long first = sweep ? maxWindowBytes / 4 : Math.max(FIRST_WINDOW, REACH * longest);
        windowBytes = Math.min(Math.min(maxWindowBytes, mostWindowBytes),
                windowBytes == 0 ? first : 2 * windowBytes);
        if (mostWindowBytes < maxWindowBytes) {
            mostWindowBytes += FIRST_WINDOW; // one eviction need not repeat
        }
        long start = Math.max(fetchedTo, next);
        long most = start + FIRST_WINDOW + MOST_TIMES * readBytes - fetchedBytes;
        long to = Math.min(sizeBytes, next + windowBytes);
        fetchedTo = Math.max(start, sweep ? to : Math.min(to, most));
        fetchedBytes += fetchedTo - start;
        return fetchedTo == start ? null : new Stretch(start, fetchedTo);
    }

    /** Notes that nothing from here on is being fetched, for lack of room. */
    void gaveUp(long at) {
        fetchedBytes -= Math.max(0, fetchedTo - at);
        fetchedTo = Math.min(fetchedTo, at);
        windowBytes = Math.max(FIRST_WINDOW / 2, windowBytes / 4);
    }
}
