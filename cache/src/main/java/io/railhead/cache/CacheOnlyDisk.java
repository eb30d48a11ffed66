package io.railhead.cache;

import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.disk.EvictedPage;
import io.railhead.cache.disk.Kept;
import io.railhead.cache.disk.PageTaker;
import io.railhead.cache.disk.VersionName;
import io.railhead.cache.memory.Lease;
import io.railhead.cache.memory.LentMemory;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageSlice;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The disk tier as cache-only objects see it: the bytes of whole objects go there and come back.
 * Any thread; no call waits for a disk.
 *
 * <p> Pages are found by their full version. No two puts have the same ETag, not even after a
 * restart, and the index in memory alone names versions. So the bytes of an object that was deleted
 * are never found again, though a disk has them until it needs their place.
 *
 * @param staging returns memory for so many bytes of a tenant; null if there is none
 */
record CacheOnlyDisk(DiskTier disk, int pageBytes, Staging staging) {

    /** The memory of objects on their way up. */
    @FunctionalInterface
    interface Staging {
        @Nullable
        StagedUpload tryStage(long sizeBytes, String tenant);
    }

    private static VersionName name(ObjectVersion version) {
        ObjectId id = version.object();
        return new VersionName(CacheOnlyObjects.BACKEND, id.namespace(), id.bucket(), id.key(), "",
                version.etag(), version.versionId(), version.sizeBytes());
    }

    private long pagesOf(ObjectVersion version) {
        return Math.ceilDiv(version.sizeBytes(), (long) pageBytes);
    }

    /** Returns the most bytes that wait to be written. */
    long queueBytes() {
        return disk.queueBytes();
    }

    /** Returns whether the disk has the first and the last page: a hint that costs two hashes. */
    boolean mayHold(ObjectVersion version) {
        return disk.held(name(version)).holderOfEach(0, pagesOf(version) - 1) != DiskTier.NOBODY;
    }

    /** Returns the same of a disk that may be left alone for now: false once it is dropped. */
    boolean has(ObjectVersion version) {
        return disk.held(name(version)).hasEach(0, pagesOf(version) - 1);
    }

    /** Returns whether one volume has all pages, as a read needs; one hash for each. */
    boolean holds(ObjectVersion version) {
        return holder(disk.held(name(version)), version) != DiskTier.NOBODY;
    }

    private int holder(DiskTier.Held held, ObjectVersion version) {
        return held.holderOfEach(LongStream.range(0, pagesOf(version)).toArray());
    }

    /**
     * Offers all pages of an object, which stay readable. All are taken or none counts.
     *
     * @param pages those of the object, which its owner has not condemned
     * @param isCurrent returns whether the object is still wanted on disk
     * @param written runs once after the disk has let go of the last page, if all were taken; must
     *            be cheap
     * @return whether the disk has taken or has each page
     */
    boolean tryOffer(CacheOnlyObject object, List<Page> pages,
            Predicate<CacheOnlyObject> isCurrent, Runnable written) {
        AtomicInteger pending = new AtomicInteger(1);
        Runnable released = () -> {
            if (pending.decrementAndGet() == 0) {
                written.run();
            }
        };
        VersionName name = name(object.metadata().version());
        for (int i = 0; i < pages.size(); i++) {
            Leaving page = new Leaving(object, pages.get(i), i, name, isCurrent, pending, released);
            if (disk.demote(page) != Kept.YES) {
                // One is never given back, so nothing runs.
                return false;
            }
        }
        released.run();
        return true;
    }

    private record Leaving(CacheOnlyObject object, Page page, long index, VersionName version,
            Predicate<CacheOnlyObject> current, AtomicInteger pending,
            Runnable released) implements EvictedPage {
        @Override
        public String tenant() {
            return page.tenant();
        }

        @Override
        public int slotBytes() {
            return page.slotBytes();
        }

        @Override
        public @Nullable PageSlice tryLease() {
            pending.incrementAndGet();
            Lease lease = page.tryRetain(released);
            if (lease == null) {
                pending.decrementAndGet();
                return null;
            }
            return new PageSlice(lease, 0, 0, page.length());
        }

        @Override
        public int crc32c(PageSlice leased) {
            return page.requireCrc32c();
        }

        @Override
        public boolean isCurrent() {
            return current.test(object);
        }
    }

    /** The end of a read; it owns the bytes if they are whole. */
    @FunctionalInterface
    interface Read {
        void ended(StagedUpload ownedBytes);
    }

    /**
     * Reads an object. The disk's watch bounds the wait for it.
     *
     * @param end gets bytes that are whole, or not; on a thread of the disk
     * @return false if there is no memory for it now
     */
    boolean tryRead(ObjectVersion version, String tenant, Read end) {
        StagedUpload room = staging.tryStage(version.sizeBytes(), tenant);
        if (room == null) {
            return false;
        }
        try {
            DiskTier.Held held = disk.held(name(version));
            int holder = holder(held, version);
            if (holder != DiskTier.NOBODY) {
                held.read(holder, 0, (int) pagesOf(version), new Rising(version, room, end));
                return true;
            }
        } catch (RuntimeException | Error e) {
            room.close();
            throw e;
        }
        end.ended(room);
        return true;
    }

    /** One thread at a time. */
    private final class Rising implements PageTaker {
        private final ObjectVersion version;
        private final StagedUpload bytes;
        private final Read end;
        private boolean isLent;

        Rising(ObjectVersion version, StagedUpload bytes, Read end) {
            this.version = version;
            this.bytes = bytes;
            this.end = end;
        }

        @Override
        public @Nullable LentMemory room() {
            LentMemory lent = bytes.lend();
            isLent = lent != null;
            return lent;
        }

        @Override
        public void page(int crc32c) {
            isLent = false;
            bytes.placed(crc32c);
        }

        @Override
        public void ended(int pages) {
            if (isLent) {
                // The disk could not give the page: asked again, it would fail for ever.
                disk.forget(name(version), pages, 1);
            }
            end.ended(bytes);
        }

        @Override
        public void hung(int pages) {
            // The disk keeps the memory that it was lent.
            end.ended(bytes);
        }
    }
}
