package io.railhead.cache;

import io.railhead.cache.memory.Page;
import java.util.List;

/**
 * One cache-only object, whole: it owns its pages until {@link #condemn}. Its fields never change,
 * but for hints of its use.
 */
final class CacheOnlyObject {
    private final ObjectMetadata metadata;
    private final List<Page> pages;
    private final long slotBytes;
    private final TenantPartition partition;
    private final long expiresAtNanos;
    /** A hint, so unordered with other fields. */
    private boolean read;

    /**
     * @param ownedPages published pages, all of the object
     * @param expiresAtNanos on the cache's clock
     */
    CacheOnlyObject(ObjectMetadata metadata, List<Page> ownedPages, TenantPartition partition,
            long expiresAtNanos) {
        this.metadata = metadata;
        this.pages = List.copyOf(ownedPages);
        this.slotBytes = pages.stream().mapToLong(Page::slotBytes).sum();
        this.partition = partition;
        this.expiresAtNanos = expiresAtNanos;
    }

    ObjectMetadata metadata() {
        return metadata;
    }

    ObjectId id() {
        return metadata.version().object();
    }

    List<Page> pages() {
        return pages;
    }

    /** Returns the bytes taken from memory. */
    long slotBytes() {
        return slotBytes;
    }

    TenantPartition partition() {
        return partition;
    }

    boolean isExpiredAt(long nanos) {
        return nanos - expiresAtNanos >= 0;
    }

    void noteRead() {
        read = true;
    }

    /** Returns whether it was read since the last call. */
    boolean wasReadSinceLastAsked() {
        boolean was = read;
        read = false;
        return was;
    }

    /** Returns whether both have the same bytes; false too if pages of one were freed meanwhile. */
    boolean hasBytesOf(CacheOnlyObject other) {
        if (metadata.version().sizeBytes() != other.metadata.version().sizeBytes()) {
            return false;
        }
        for (int i = 0; i < pages.size(); i++) {
            if (!pages.get(i).hasBytesOf(other.pages.get(i))) {
                return false;
            }
        }
        return true;
    }

    void condemn() {
        pages.forEach(Page::condemn);
    }
}
