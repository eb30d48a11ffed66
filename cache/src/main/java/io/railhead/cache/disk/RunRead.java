package io.railhead.cache.disk;

import io.railhead.cache.disk.DiskIndex.Place;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A read of adjacent pages of a version. A reading thread reads each page into memory of its own,
 * and hands over what is right. A watch ends the read when the disk hangs; the thread then finds
 * that it may hand nothing over any more. So nobody waits for a hanging disk, and what it writes
 * late goes nowhere.
 *
 * <pre>
 *   WAITING ──▶ READING ◀──▶ HANDING
 *      └───────────┴──▶ ENDED ◀──┘      by the watch from the first two
 * </pre>
 */
final class RunRead {
    private enum State {
        WAITING,
        READING,
        HANDING,
        ENDED
    }

    /** The disk as a run sees it. */
    interface Disk {
        /** Returns a page's place; null if it is not there or the disk must be left alone. */
        @Nullable
        Place find(VersionName.Digest version, PageIdentity identity);

        /** Reads a page; false if it cannot be had, which is counted. */
        boolean tryRead(PageIdentity identity, Place place, MemorySegment into);
    }

    private final VersionName.Digest version;
    private final long first;
    private final int count;
    private final PageTaker taker;
    private final LongSupplier nanoClock;
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
    private volatile long since;
    private volatile int handed;

    RunRead(VersionName.Digest version, long first, int count, PageTaker taker,
            LongSupplier nanoClock) {
        this.version = version;
        this.first = first;
        this.count = count;
        this.taker = taker;
        this.nanoClock = nanoClock;
        this.since = nanoClock.getAsLong();
    }

    /**
     * Reads until a page cannot be had, or the watch has ended the read. It ends whatever is
     * thrown, since readers wait for the end.
     */
    void read(Disk disk, MemorySegment own) {
        try {
            readPages(disk, own);
        } finally {
            end();
        }
    }

    private void readPages(Disk disk, MemorySegment own) {
        State before = State.WAITING;
        for (int done = 0; done < count; done++) {
            since = nanoClock.getAsLong();
            if (!state.compareAndSet(before, State.READING)) {
                return;
            }
            PageIdentity identity = version.page(first + done);
            Place place = disk.find(version, identity);
            if (place == null || !disk.tryRead(identity, place, own)) {
                return;
            }
            if (!state.compareAndSet(State.READING, State.HANDING)) {
                return;
            }
            taker.page(own.asSlice(0, place.length()).asByteBuffer());
            handed = done + 1;
            before = State.HANDING;
        }
    }

    /** Ends the read where it is, unless it has ended. Its thread only. */
    private void end() {
        if (state.getAndSet(State.ENDED) != State.ENDED) {
            taker.ended(handed);
        }
    }

    /** Ends a read that no thread has begun. */
    void cancel() {
        if (state.compareAndSet(State.WAITING, State.ENDED)) {
            taker.ended(0);
        }
    }

    /** A wait that took too long. */
    enum Late {
        NOT,
        /** No thread was free. */
        WAITING,
        /** The disk does not answer. */
        READING
    }

    /** Ends the read if it has made no progress for so long. */
    Late endIfLate(long now, long limitNanos) {
        // The state first: a thread sets the time of its read before it begins to read.
        State seen = state.get();
        if (now - since <= limitNanos) {
            return Late.NOT;
        }
        if (seen == State.WAITING && state.compareAndSet(State.WAITING, State.ENDED)) {
            taker.ended(0);
            return Late.WAITING;
        }
        if (seen == State.READING && state.compareAndSet(State.READING, State.ENDED)) {
            taker.ended(handed);
            return Late.READING;
        }
        return Late.NOT;
    }
}
