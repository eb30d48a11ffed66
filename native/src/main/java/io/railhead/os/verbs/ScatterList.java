package io.railhead.os.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The local memory of one work request, an array of struct ibv_sge: {@code clear}, {@code add} for
 * each range, then {@link DcInitiator#entries}, which copies it. Nothing is allocated after
 * construction. One thread at a time.
 */
public final class ScatterList implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final int capacity;
    private int size;
    private long bytes;

    public ScatterList(int capacity) {
        this.capacity = WorkRequests.requirePositive("capacity", capacity);
        memory = arena.allocate(capacity * Layout.Sge.SIZE, Long.BYTES);
    }

    public ScatterList clear() {
        size = 0;
        bytes = 0;
        return this;
    }

    /** Adds a range. An empty one is allowed, and moves nothing. */
    public ScatterList add(int lkey, long address, int length) {
        if (size == capacity) {
            throw new IllegalStateException("the list is full: " + capacity);
        }
        if (length < 0) {
            throw new IllegalArgumentException("length must be >= 0: " + length);
        }
        WorkRequests.entry(memory, size * Layout.Sge.SIZE, address, length, lkey);
        size++;
        bytes += length;
        return this;
    }

    public int capacity() {
        return capacity;
    }

    public int size() {
        return size;
    }

    /** Returns the bytes of all ranges together. */
    public long bytes() {
        return bytes;
    }

    long address() {
        return memory.address();
    }

    @Override
    public void close() {
        arena.close();
    }
}
