package io.railhead.cache;

import io.railhead.cache.memory.Page;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One cache-only object, whole: it owns its pages until {@link #condemn}. Only its place changes,
 * with its pages, and hints of its use.
 *
 * <pre>
 *   MEMORY ──▶ LEAVING ──▶ DISK ──▶ MEMORY     each of them ──▶ GONE
 * </pre>
 *
 * Pages come and go under the index's lock of the key. Who makes an object LEAVING gives its share
 * of memory back; so does who makes it GONE out of MEMORY.
 */
final class CacheOnlyObject {
    private final ObjectMetadata metadata;
    private volatile List<Page> pages;
    private final long slotBytes;
    private final TenantPartition partition;
    private final long expiresAtNanos;
    private final String tenant;
    private final boolean mayGoToDisk;
    private final AtomicReference<Place> place = new AtomicReference<>(Place.MEMORY);
    private volatile long diskNumber;
    /** A hint, so unordered with other fields. */
    private boolean read;

    enum Place {
        MEMORY,
        /** Its pages are here while the disk takes them, and count in no share. */
        LEAVING,
        DISK,
        GONE
    }

    /**
     * @param ownedPages published pages, all of the object
     * @param expiresAtNanos on the cache's clock
     * @param mayGoToDisk whether it goes to the disk rather than being evicted for room
     */
    CacheOnlyObject(ObjectMetadata metadata, List<Page> ownedPages, TenantPartition partition,
            long expiresAtNanos, String tenant, boolean mayGoToDisk) {
        this.tenant = tenant;
        this.mayGoToDisk = mayGoToDisk;
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

    /** Returns the pages in memory; empty if they are on disk. */
    List<Page> pages() {
        return pages;
    }

    String tenant() {
        return tenant;
    }

    boolean mayGoToDisk() {
        return mayGoToDisk && !pages.isEmpty();
    }

    boolean isOnDisk() {
        return place.get() == Place.DISK;
    }

    /** Returns its number in the order in which objects went to disk; 0 before. */
    long diskNumber() {
        return diskNumber;
    }

    void diskNumber(long number) {
        diskNumber = number;
    }

    boolean isInShare() {
        return place.get() == Place.MEMORY;
    }

    /** Begins to leave memory; false if it is not there, or gone. */
    boolean tryLeave() {
        return place.compareAndSet(Place.MEMORY, Place.LEAVING);
    }

    /** Ends to leave memory: the disk has all bytes. Returns the pages, which the caller frees. */
    List<Page> left() {
        List<Page> before = pages;
        if (!place.compareAndSet(Place.LEAVING, Place.DISK)) {
            return List.of();
        }
        pages = List.of();
        return before;
    }

    /** Takes the bytes that came from disk; false if it is not on disk. */
    boolean tryReturn(List<Page> ownedPages) {
        if (place.get() != Place.DISK) {
            return false;
        }
        // Before the place: who sees that finds them.
        pages = List.copyOf(ownedPages);
        place.set(Place.MEMORY);
        return true;
    }

    /** Ends it; returns its last place. */
    Place end() {
        return place.getAndSet(Place.GONE);
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

    /** Returns whether the bytes are the same; false too if pages of one were freed meanwhile. */
    boolean hasBytesOf(List<Page> others) {
        List<Page> mine = pages;
        if (mine.size() != others.size()) {
            return false;
        }
        for (int i = 0; i < mine.size(); i++) {
            if (!mine.get(i).hasBytesOf(others.get(i))) {
                return false;
            }
        }
        return true;
    }

    void condemn() {
        pages.forEach(Page::condemn);
    }
}
