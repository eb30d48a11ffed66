package io.railhead.os;

import java.lang.foreign.MemorySegment;

/**
 * A file or block device of fixed size. Memory, offset and length of each call are multiples of
 * {@link #BLOCK_BYTES}. Any thread; a call may block for as long as the disk hangs. A call that
 * fails, or meets the end of a file that was truncated, throws {@link OsException}.
 */
public interface BlockFile extends AutoCloseable {
    int BLOCK_BYTES = 4096;

    /** Returns the size, which is fixed while the file is open. */
    long bytes();

    /** Fills all of {@code into}. */
    void read(MemorySegment into, long at);

    /** Writes all of {@code from}. */
    void write(MemorySegment from, long at);

    /** Returns once earlier writes would survive a power cut. */
    void sync();

    /** Refuses new calls; the descriptor is closed once calls under way have returned. */
    @Override
    void close();
}
