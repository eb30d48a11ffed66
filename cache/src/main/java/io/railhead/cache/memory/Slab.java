package io.railhead.cache.memory;

import java.lang.foreign.MemorySegment;

/** A block of memory that fabrics register as one region: at most 1 GiB. */
public interface Slab {

    int id();

    MemorySegment segment();
}
