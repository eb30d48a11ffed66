package io.railhead.cache;

import io.railhead.cache.memory.Page;
import java.util.List;

/**
 * One cache-only object, whole: it owns its pages until {@link #condemn}. Only its place changes,
 * with its pages, and hints of its use.
 *
 * <pre>
 *   MEMORY ◀──▶ LEAVING ──▶ DISK ──▶ MEMORY     each of them ──▶ GONE
 * </pre>
 *
 * Moves are made under the index's lock of the key, or by who took the object out of the index. Who
 * makes it LEAVING gives its share of memory back; so does who makes it GONE out of MEMORY.
 */
final class CacheOnlyObject {
    private final ObjectMetadata metadata;
    private volatile Where where;
    private final long slotBytes;
    private final TenantPartition partition;
    private final long expiresAtNanos;
    private final String tenant;
    private final boolean mayGoToDisk;
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

    /** A place with the pages there: each move makes another one, which its identity tells. */
    static final class Where {
        private final Place place;
        private final List<Page> pages;

        private Where(Place place, List<Page> pages) {
            this.place = place;
            this.pages = pages;
        }

        Place place() {
            return place;
        }

        /** Returns the pages in memory; empty on disk. */
        List<Page> pages() {
            return pages;
        }
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
        this.where = new Where(Place.MEMORY, List.copyOf(ownedPages));
        this.slotBytes = ownedPages.stream().mapToLong(Page::slotBytes).sum();
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
        return where.pages();
    }

    Where where() {
        return where;
    }

    String tenant() {
        return tenant;
    }

    boolean mayGoToDisk() {
        return mayGoToDisk && slotBytes > 0;
    }

    boolean isOnDisk() {
        return where.place() == Place.DISK;
    }

    /** Returns whether its pages are in memory, though it may be about to leave. */
    boolean isInMemory() {
        Place place = where.place();
        return place == Place.MEMORY || place == Place.LEAVING;
    }

    /** Returns its number in the order in which objects went to disk; 0 before. */
    long diskNumber() {
        return diskNumber;
    }

    void diskNumber(long number) {
        diskNumber = number;
    }

    boolean isInShare() {
        return where.place() == Place.MEMORY;
    }

    /** Begins to leave memory. */
    Where leave() {
        Where departure = new Where(Place.LEAVING, where.pages());
        where = departure;
        return departure;
    }

    /** Ends to leave memory: the disk has all bytes. The caller frees the pages. */
    void arrive() {
        where = new Where(Place.DISK, List.of());
    }

    /** Returns to memory, with the pages that never left or that came from disk. */
    void comeBack(List<Page> ownedPages) {
        where = new Where(Place.MEMORY, List.copyOf(ownedPages));
    }

    /** Ends it; returns its last place, whose pages the caller frees. */
    Where end() {
        Where last = where;
        where = new Where(Place.GONE, last.pages());
        return last;
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
        List<Page> mine = pages();
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
        pages().forEach(Page::condemn);
    }
}
