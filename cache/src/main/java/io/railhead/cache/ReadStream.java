package io.railhead.cache;

import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A place in an object from which somebody reads on, and how far ahead of it the bytes are fetched.
 * Guarded by {@link ReadStreams}.
 *
 * <pre>
 *   0        next              next + window
 *   │ read so far │ fetched, or being so │ not yet ...
 * </pre>
 *
 * Once less than half of the window lies ahead it is doubled, as long as what was fetched is a
 * small multiple of what was read. Where what was fetched goes before it is read, less is fetched.
 */
final class ReadStream {
    /** Reads that go on from one another before anything is fetched. */
    private static final int SURE_AFTER = 2;
    private static final long FIRST_WINDOW = 1L << 20;
    /** So many times what was read may be fetched, and a first window. */
    private static final int MOST_TIMES = 4;
    /** What a parallel reader may be early or late, in reads. */
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
     * A read that none came before: at an object's start it is the first of several, as a rule.
     *
     * @param sweep whether all of the object will be read, in whatever order
     */
    ReadStream(long sizeBytes, boolean sweep, long from) {
        this.sizeBytes = sizeBytes;
        this.sweep = sweep;
        this.next = sweep ? 0 : from;
        this.inOrder = from == 0 ? 0 : -1;
    }

    /**
     * Who begins again, or goes on behind the end, is another reader: what was fetched may be gone.
     */
    boolean continues(long from, long to) {
        if (next == sizeBytes || (from == 0 && next > 0)) {
            return false;
        }
        long reach = Math.max(windowBytes, REACH * (to - from));
        return sweep || (from >= next - reach && from <= next + reach);
    }

    /** A read goes on here. */
    void read(long from, long to) {
        // What is read in any order is counted, not followed.
        next = sweep ? Math.min(sizeBytes, next + to - from) : Math.max(next, to);
        longest = Math.max(longest, to - from);
        readBytes += to - from;
        inOrder++;
    }

    /** Whether what is read next, and was fetched, is still there. */
    void look(LongPredicate there) {
        if (!sweep && next < Math.min(fetchedTo, sizeBytes) && !there.test(next)) {
            mostWindowBytes = Math.max(FIRST_WINDOW / 2, windowBytes / 4);
            windowBytes = mostWindowBytes / 2;
            fetchedTo = next;
        }
    }

    /** Whether something is to be fetched now. */
    boolean wants() {
        boolean sure = sweep || (inOrder >= SURE_AFTER && fetchedBytes <= MOST_TIMES * readBytes);
        boolean enough = windowBytes > 0 && fetchedTo - next >= windowBytes / 2;
        return sure && !enough && Math.max(fetchedTo, next) < sizeBytes;
    }

    /** What to fetch now, which then counts as fetched; null for nothing. */
    @Nullable
    Stretch take(long maxWindowBytes) {
        if (!wants()) {
            return null;
        }
        long first = sweep ? maxWindowBytes / 4 : Math.max(FIRST_WINDOW, REACH * longest);
        windowBytes = Math.min(Math.min(maxWindowBytes, mostWindowBytes),
                windowBytes == 0 ? first : 2 * windowBytes);
        if (mostWindowBytes < maxWindowBytes) {
            mostWindowBytes += FIRST_WINDOW; // what went may have gone for once
        }
        long start = Math.max(fetchedTo, next);
        long most = start + FIRST_WINDOW + MOST_TIMES * readBytes - fetchedBytes;
        long to = Math.min(sizeBytes, next + windowBytes);
        fetchedTo = Math.max(start, sweep ? to : Math.min(to, most));
        fetchedBytes += fetchedTo - start;
        return fetchedTo == start ? null : new Stretch(start, fetchedTo);
    }

    /** Nothing from here on is on its way: there was no room. */
    void gaveUp(long at) {
        fetchedBytes -= Math.max(0, fetchedTo - at);
        fetchedTo = Math.min(fetchedTo, at);
        windowBytes = Math.max(FIRST_WINDOW / 2, windowBytes / 4);
    }
}
