package io.railhead.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * An eventfd(2): any thread can signal it, and a thread that sleeps in a {@link PollSet} with it
 * wakes. A signal during or after the close does nothing.
 */
public final class EventDescriptor implements AutoCloseable {
    private final int descriptor = Libc.eventfd();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment one = arena.allocateFrom(JAVA_LONG, 1);
    private final MemorySegment read = arena.allocate(JAVA_LONG);
    /**
     * Checked before each use: a descriptor's number is reused, and a late signal must not reach
     * another file.
     */
    private boolean isClosed;

    public int descriptor() {
        return descriptor;
    }

    /**
     * Wakes the sleeper, or ends its next sleep at once; several signals before a clear count as
     * one.
     */
    public synchronized void signal() {
        if (!isClosed) {
            unlessAgain(() -> Libc.write(descriptor, one));
        }
    }

    /** Clears the signals so far. For the one thread that sleeps. */
    public synchronized void clear() {
        if (!isClosed) {
            unlessAgain(() -> Libc.read(descriptor, read));
        }
    }

    /** Ignores EAGAIN: a full counter is already signalled, an empty one already clear. */
    private static void unlessAgain(Runnable call) {
        try {
            call.run();
        } catch (OsException e) {
            if (e.errno() != Libc.EAGAIN) {
                throw e;
            }
        }
    }

    /** Closes the descriptor; no thread may be asleep on it. */
    @Override
    public synchronized void close() {
        if (!isClosed) {
            isClosed = true;
            arena.close();
            Libc.close(descriptor);
        }
    }
}
