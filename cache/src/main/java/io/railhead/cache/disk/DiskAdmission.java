package io.railhead.cache.disk;

import io.railhead.cache.disk.DiskStats.NotKept;
import io.railhead.cache.memory.PageSlice;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The choice of pages that are written. Any thread; no call waits for a disk, except {@link #save}.
 *
 * <p> Every page until a volume has been filled once. From then on each write drops another page,
 * so only those are written that memory gives up for the second time, and of these as many as the
 * write budget allows. The oldest segment goes first. A page that is read again stays where it is.
 */
final class DiskAdmission {
    private static final long SAVE_PAUSE_NANOS = 1_000_000;

    private final DiskConfig config;
    private final DiskCounters counters;
    private final WriteBudget budget;
    private final BooleanSupplier opening;
    private volatile SeenBefore seen = new SeenBefore(0);

    /** @param opening whether some volume may still take part */
    DiskAdmission(DiskConfig config, DiskCounters counters, LongSupplier nanoClock,
            BooleanSupplier opening) {
        this.config = config;
        this.counters = counters;
        this.budget = new WriteBudget(config.bytesPerDay(), nanoClock);
        this.opening = opening;
    }

    /** Begins to count first and second offers anew, for so many pages. */
    void resize(long pages) {
        seen = new SeenBefore(pages);
    }

    /** Forgets the oldest offers if there are too many. Called a few times a second. */
    void tick() {
        seen.turnIfFull();
    }

    /** Returns how many bytes of pages more may wait to be written now. */
    long queueRoomBytes() {
        return Math.max(0, config.queueBytes() - counters.queuedBytes.get());
    }

    /** Leases a page and queues it; false if it is not kept. */
    boolean offer(EvictedPage page, List<VolumeService> open) {
        return tryKeep(page, open, ThreadLocalRandom.current().nextDouble());
    }

    /** Offers a page as if it were given up for the second time, once there is room. */
    void save(EvictedPage page, List<VolumeService> open, long endNanos) {
        while (page.slotBytes() > queueRoomBytes() && System.nanoTime() - endNanos < 0) {
            LockSupport.parkNanos(SAVE_PAUSE_NANOS);
        }
        boolean _ = tryKeep(page, open, 0);
    }

    /**
     * Leases and queues a page that an operator wants on disk, as if it were given up for the
     * second time. No page of others is dropped from the queue for it.
     */
    Kept keep(EvictedPage page, List<VolumeService> open) {
        return page.slotBytes() > queueRoomBytes() ? Kept.LATER : demote(page, open);
    }

    /**
     * Leases and queues a page that memory gives up, as if for the second time. Tenants get their
     * turns in the queue as for {@link #offer}.
     */
    Kept demote(EvictedPage page, List<VolumeService> open) {
        return switch (refusal(page, open, 0)) {
            case HELD -> Kept.YES;
            case QUEUE, RECOVERING -> Kept.LATER;
            case BUDGET -> Kept.BUDGET;
            case SMALL -> Kept.NEVER;
            case ONCE, TENANTS, BROKEN, OVERTAKEN -> Kept.FAILED;
            case null -> Kept.YES;
        };
    }

    /** @param chance see {@link WriteBudget#trySpend}; 0 takes the page at its first offer too */
    private boolean tryKeep(EvictedPage page, List<VolumeService> open, double chance) {
        NotKept refusal = refusal(page, open, chance);
        if (refusal != null) {
            counters.count(refusal);
        }
        return refusal == null;
    }

    private @Nullable NotKept refusal(EvictedPage page, List<VolumeService> open,
            double chance) {
        VersionName version = page.version();
        if (version.sizeBytes() < config.minObjectBytes()) {
            return NotKept.SMALL;
        }
        if (open.isEmpty()) {
            return opening.getAsBoolean() ? NotKept.RECOVERING : NotKept.BROKEN;
        }
        VolumeService volume = open.get(homeOf(version, open.size()));
        // While the caller keeps removers of the page waiting.
        long evictions = volume.evictions();
        VersionName.Digest digest = volume.digest(version);
        PageIdentity identity = digest.page(page.index());
        if (volume.has(digest, identity)) {
            return NotKept.HELD;
        }
        boolean again = seen.again(identity);
        NotKept refusal = volume.refusal();
        if (refusal != null) {
            return refusal;
        }
        if (volume.isFullFor(page.tenant())) {
            if (!again && chance > 0) {
                return NotKept.ONCE;
            }
            if (!budget.trySpend(page.tenant(), page.slotBytes(), chance)) {
                return NotKept.BUDGET;
            }
        }
        return queue(page, volume, digest, evictions);
    }

    private static int homeOf(VersionName version, int count) {
        return Math.floorMod(version.hashCode() * 0x9E3779B9, count);
    }

    private @Nullable NotKept queue(EvictedPage page, VolumeService volume,
            VersionName.Digest digest, long evictions) {
        int bytes = page.slotBytes();
        if (!tryReserve(page, volume)) {
            return NotKept.QUEUE;
        }
        PageSlice slice = page.isCurrent() ? page.tryLease() : null;
        if (slice == null) {
            counters.queuedBytes.addAndGet(-bytes);
            return NotKept.OVERTAKEN;
        }
        volume.write(page, slice, digest, evictions);
        return null;
    }

    /** Counts the page as queued, in the place of pages of others who have more if need be. */
    private boolean tryReserve(EvictedPage page, VolumeService volume) {
        int bytes = page.slotBytes();
        boolean reserved = tryReserve(bytes);
        while (!reserved && volume.tryMakeRoom(page.tenant(), bytes)) {
            reserved = tryReserve(bytes);
        }
        return reserved;
    }

    private boolean tryReserve(int bytes) {
        boolean fits = counters.queuedBytes.addAndGet(bytes) <= config.queueBytes();
        if (!fits) {
            counters.queuedBytes.addAndGet(-bytes);
        }
        return fits;
    }
}
