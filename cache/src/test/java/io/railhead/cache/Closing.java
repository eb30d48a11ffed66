package io.railhead.cache;

import io.railhead.cache.memory.PageSlice;

/** A sink for reads that end before {@link RangeReader#start} returns: it looks at no byte. */
final class Closing implements RangeReader.Sink {
    boolean ended;

    @Override
    public void slice(PageSlice ownedSlice) {
        ownedSlice.close();
    }

    @Override
    public void end() {
        ended = true;
    }

    @Override
    public void failed(FillException cause, long atOffset) {
        throw new AssertionError("failed at " + atOffset, cause);
    }
}
