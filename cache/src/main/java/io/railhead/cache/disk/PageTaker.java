package io.railhead.cache.disk;

import io.railhead.cache.memory.LentMemory;
import org.jspecify.annotations.Nullable;

/** The receiver of pages from the disk. Calls come one at a time, from threads of the tier. */
public interface PageTaker {

    /** Lends memory for the next page; null to end the read. */
    @Nullable
    LentMemory room();

    /** Takes the page that was read into the memory lent last: its bytes match this sum. */
    void page(int crc32c);

    /**
     * Ends the read, once.
     *
     * @param pages how many pages were handed over; those behind them must come from elsewhere
     */
    void ended(int pages);

    /** Ends the read as {@link #ended} does, while the disk still writes into the memory lent. */
    void hung(int pages);
}
