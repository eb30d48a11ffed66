package io.railhead.cache.disk;

import io.railhead.cache.disk.DiskIndex.Place;
import io.railhead.cache.memory.LentMemory;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A read of adjacent pages of a version into memory that its taker lends. A watch ends the read
 * when the disk hangs. The memory stays lent until the disk has let go of it, so what comes late
 * goes nowhere, and the reader takes other memory.
 *
 * <pre>
 *   WAITING ──▶ HANDING ◀──▶ READING
 *      │           └──▶ ENDED ◀──┤
 *      └──────── by the watch ───┘
 * </pre>
 *
 * While HANDING, a thread is with the taker, which never waits; so the watch leaves it alone.
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

        /**
         * Reads a page into memory of whole units; false if it cannot be had, which is counted.
         */
        boolean tryRead(PageIdentity identity, Place place, List<MemorySegment> into);
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
    void read(Disk disk) {
        try {
            if (state.compareAndSet(State.WAITING, State.HANDING)) {
                readPages(disk);
            }
        } finally {
            end();
        }
    }

    private void readPages(Disk disk) {
        boolean right = true;
        for (int done = 0; right && done < count; done++) {
            PageIdentity identity = version.page(first + done);
            Place place = disk.find(version, identity);
            LentMemory room = place == null ? null : taker.room();
            right = place != null && room != null && tryRead(disk, identity, place, room);
            if (right && place != null) {
                taker.page(place.crc());
                handed = done + 1;
            }
        }
    }

    private boolean tryRead(Disk disk, PageIdentity identity, Place place, LentMemory ownedRoom) {
        try (ownedRoom) {
            if (place.length() != ownedRoom.length()) {
                return false;
            }
            since = nanoClock.getAsLong();
            state.set(State.READING);
            boolean right = disk.tryRead(identity, place, ownedRoom.segments());
            // Before the memory is given back: until then it is nobody's who would fill it anew.
            return state.compareAndSet(State.READING, State.HANDING) && right;
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
            taker.hung(handed);
            return Late.READING;
        }
        return Late.NOT;
    }
}
