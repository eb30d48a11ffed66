package io.railhead.cache.memory;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** All registered memory: slabs cut into slots, handed out as pages. Any thread. */
public final class PageMemory implements AutoCloseable {

    /**
     * Reserves the memory; returns when the first slab serves, the rest follows in the background.
     *
     * @param onSlab
     *            called once per slab before any of its pages is handed out: fabrics register it
     */
    public static PageMemory open(MemoryConfig config, Consumer<Slab> onSlab) {
        throw new UnsupportedOperationException();
    }

    /** Which memory a page may come from. */
    public enum Pool {
        /** What the index may hold. */
        CACHE,
        /** What never holds cached data: uncached RDMA and PUT landing. */
        RESERVE
    }

    /**
     * Pages of the given lengths, all or none, each with its owner's count; null where there is no
     * room now.
     */
    public @Nullable List<Page> tryAllocate(int[] lengths, Pool pool) {
        throw new UnsupportedOperationException();
    }

    public MemoryStats stats() {
        throw new UnsupportedOperationException();
    }

    /** Frees everything; throws where a lease is still open. */
    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
