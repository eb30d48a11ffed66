package io.railhead.cache.memory;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The memory of a page that is being filled, lent to a disk that writes into it. It is nobody
 * else's until {@link #close}, even if the page is condemned meanwhile.
 */
public interface LentMemory extends AutoCloseable {

    /** Returns whole slots, in order, one segment for each range of adjacent ones. */
    List<MemorySegment> segments();

    /** Returns the page's length; the rest of the last slot must be zeros at the end. */
    int length();

    @Override
    void close();
}
