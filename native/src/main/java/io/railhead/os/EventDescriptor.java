package io.railhead.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * An eventfd(2): any thread signals it, and whoever sleeps in a {@link PollSet} with it wakes. A
 * signal that comes as it is closed, or later, does nothing.
 */
public final class EventDescriptor implements AutoCloseable {
    private final int descriptor = Libc.eventfd();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment one = arena.allocateFrom(JAVA_LONG, 1);
    private final MemorySegment read = arena.allocate(JAVA_LONG);
    /** A descriptor's number is reused: a late signal must not reach somebody else's. */
    private boolean isClosed;

    public int descriptor() {
        return descriptor;
    }

    /** Wakes the sleeper, or its next sleep; signals that were not yet cleared are one. */
    public synchronized void signal() {
        if (!isClosed) {
            unlessAgain(() -> Libc.write(descriptor, one));
        }
    }

    /** Forgets the signals so far. For the one thread that sleeps. */
    public synchronized void clear() {
        if (!isClosed) {
            unlessAgain(() -> Libc.read(descriptor, read));
        }
    }

    /** A full counter is already signalled, an empty one already clear. */
    private static void unlessAgain(Runnable call) {
        try {
            call.run();
        } catch (OsException e) {
            if (e.errno() != Libc.EAGAIN) {
                throw e;
            }
        }
    }

    /** Nobody may be asleep on it. */
    @Override
    public synchronized void close() {
        if (!isClosed) {
            isClosed = true;
            arena.close();
            Libc.close(descriptor);
        }
    }
}
