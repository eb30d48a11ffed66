package io.railhead.cache.disk;

import java.nio.ByteBuffer;

/** The receiver of pages from the disk. Calls come one at a time, from threads of the tier. */
public interface PageTaker {

    /**
     * Takes the next page's bytes, which matched their sum; the buffer is reused after the call.
     */
    void page(ByteBuffer bytes);

    /**
     * Ends the read, once.
     *
     * @param pages how many pages were handed over; those behind them must come from elsewhere
     */
    void ended(int pages);
}
