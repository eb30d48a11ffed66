package io.railhead.cache.memory;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The memory of one fill: see the package's contract. */
public final class Page {

    /** Bytes that are valid once the page is ready. */
    public int length() {
        throw new UnsupportedOperationException();
    }

    /** A lease, or null where the count has reached zero: a miss. */
    public @Nullable Lease tryRetain() {
        throw new UnsupportedOperationException();
    }

    /** The slots that hold {@code [offset, offset + length)}, cut to it, for the page's filler. */
    public MemorySegment slot(int index) {
        throw new UnsupportedOperationException();
    }
}
