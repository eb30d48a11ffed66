package io.railhead.cache;

import io.railhead.cache.memory.PageSlice;

/**
 * One request's bytes, in order, through a sliding window: at most the window's bytes are leased or
 * being filled for this reader at any time. Missing pages are filled in runs, each page by one fill
 * for all who wait for it.
 *
 * <p> Threads: {@link #start}, {@link #cancel} and every call of the {@link Sink} happen on the
 * reader's executor, which runs one task at a time (an event loop, a serial executor). Slices may
 * be closed on any thread; each closed slice moves the window on.
 */
public interface RangeReader {

    /** Hands over at once what is held; the rest as it comes. */
    void start();

    /**
     * Ends the leases of what was not handed over; the sink hears nothing more. Fills go on for
     * others. Idempotent.
     */
    void cancel();

    /** Receives the bytes. */
    interface Sink {

        /** The next bytes; the receiver closes the slice when they have left it. */
        void slice(PageSlice ownedSlice);

        /** All bytes were handed over. */
        void end();

        /**
         * No more bytes come; those handed over before were good.
         *
         * @param atOffset the object offset of the first byte not handed over
         */
        void failed(FillException cause, long atOffset);
    }
}
