package io.railhead.cache.disk;

import io.railhead.cache.memory.PageSlice;
import org.jspecify.annotations.Nullable;

/** A page that memory is about to give up. */
public interface EvictedPage {
    VersionName version();

    /** Returns the tenant that it was fetched for. */
    String tenant();

    /** Returns the page's number in its object. */
    long index();

    /** Returns the bytes of memory that it takes. */
    int slotBytes();

    /** Leases the whole page; null if that is too late. Called only if the tier wants it. */
    @Nullable
    PageSlice tryLease();

    /** Returns the CRC32C of its bytes: that of its fill, so that a change since then is seen. */
    int crc32c(PageSlice leased);

    /**
     * Returns whether its bytes may still be kept: false for good once they were refuted or
     * evicted.
     */
    boolean isCurrent();
}
