package io.railhead.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A fixed set of descriptors on which one thread at a time sleeps with poll(2) until one is
 * readable. An {@link EventDescriptor} in the set wakes the thread.
 */
public final class PollSet implements AutoCloseable {
    private static final long POLLFD_BYTES = 8;
    private static final long EVENTS = 4;
    private static final long RETURNED_EVENTS = 6;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment callState = Libc.newState(arena);
    private final MemorySegment pollfds;
    private final int count;

    public PollSet(int... descriptors) {
        count = descriptors.length;
        pollfds = arena.allocate(POLLFD_BYTES * count, Integer.BYTES);
        for (int i = 0; i < count; i++) {
            pollfds.set(JAVA_INT, i * POLLFD_BYTES, descriptors[i]);
            pollfds.set(JAVA_SHORT, i * POLLFD_BYTES + EVENTS, (short) Libc.POLLIN);
        }
    }

    /**
     * Sleeps until a descriptor is readable, failed or hung up; a signal ends the sleep early.
     *
     * @param timeoutMillis the longest sleep; 0 for none, -1 for no limit
     * @return the number of ready descriptors, 0 at the timeout
     */
    public int await(int timeoutMillis) {
        int ready = Libc.poll(callState, pollfds, count, timeoutMillis);
        if (ready < 0 && ready != -Libc.EINTR) {
            throw new OsException("poll: " + Libc.message(-ready), -ready);
        }
        return Math.max(0, ready);
    }

    /** Returns whether the descriptor at that index was ready when {@link #await} returned. */
    public boolean isReady(int index) {
        return pollfds.get(JAVA_SHORT, index * POLLFD_BYTES + RETURNED_EVENTS) != 0;
    }

    /** Closes the set; the descriptors stay open. No thread may be asleep in it. */
    @Override
    public void close() {
        arena.close();
    }
}
