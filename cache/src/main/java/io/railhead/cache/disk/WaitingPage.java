package io.railhead.cache.disk;

import io.railhead.cache.memory.PageSlice;

/**
 * A page that waits to be written. It keeps its lease until {@link #release}, since the disk reads
 * the page's own memory. Not a record: two are never equal.
 */
final class WaitingPage {
    private final EvictedPage page;
    private final PageSlice ownedSlice;
    private final VersionName.Digest version;
    private final TenantId tenant;
    /** The length while it is leased: afterwards the memory may be another page's. */
    private final int bytes;
    /** The number of the last eviction by name when the page was offered. */
    private final long evictions;

    WaitingPage(EvictedPage page, PageSlice ownedSlice, VersionName.Digest version,
            TenantId tenant, long evictions) {
        this.page = page;
        this.ownedSlice = ownedSlice;
        this.version = version;
        this.tenant = tenant;
        this.bytes = page.slotBytes();
        this.evictions = evictions;
    }

    TenantId tenant() {
        return tenant;
    }

    /** Returns the bytes of memory that it keeps. */
    int bytes() {
        return bytes;
    }

    long evictions() {
        return evictions;
    }

    SegmentWriter.Offered offered() {
        return new SegmentWriter.Offered(tenant, version.page(page.index()), version,
                page.crc32c(ownedSlice), ownedSlice.segments(), evictions, page::isCurrent);
    }

    void release() {
        ownedSlice.close();
    }
}
