package io.railhead.cache;

import io.railhead.cache.memory.PageSlice;

/**
 * One request's bytes, in order, through a sliding window: at most the window's bytes are leased or
 * being filled for this reader at any time. Missing pages are filled in runs, each page by one fill
 * for all waiting readers.
 *
 * <p> Threads: {@link #start}, {@link #cancel} and every call of the {@link Sink} happen on the
 * reader's executor. It runs one task at a time (an event loop, a serial executor). Slices may be
 * closed on any thread; each closed slice moves the window on.
 */
public interface RangeReader {

    /** Starts the reader: cached bytes are handed over at once, the others as they come. */
    void start();

    /**
     * Ends the leases of pages that were not handed over, and makes no further call of the sink.
     * Fills go on for other readers. Idempotent.
     */
    void cancel();

    /** Receives the bytes. */
    interface Sink {

        /** Takes the next bytes; the receiver closes the slice once the bytes have been sent. */
        void slice(PageSlice ownedSlice);

        /** Reports that all bytes were handed over. */
        void end();

        /**
         * Reports that no more bytes come; those handed over before were good.
         *
         * @param atOffset the object offset of the first byte that was not handed over
         */
        void failed(FillException cause, long atOffset);
    }
}
