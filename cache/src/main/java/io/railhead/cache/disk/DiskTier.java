package io.railhead.cache.disk;

import io.railhead.cache.disk.DiskStats.NotKept;
import io.railhead.cache.memory.PageSlice;
import io.railhead.os.BlockFile;
import io.railhead.os.DirectFile;
import io.railhead.os.OsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pages that memory has given up, on files and devices. Any thread; no call waits for a disk,
 * except {@link #open} and {@link #close}.
 *
 * <p> Admission: every page until a volume has been filled once. From then on each write drops
 * another page, so only those are written that memory gives up for the second time, and of these as
 * many as the write budget allows. The oldest segment goes first. A page that is read again stays
 * where it is.
 *
 * <p> All pages of a version go to one volume, so a read of adjacent pages has one disk.
 */
public final class DiskTier implements AutoCloseable {
    /** The answer of {@link Held#holder} for a page that no volume has. */
    public static final int NOBODY = -1;

    private static final Logger LOG = LoggerFactory.getLogger(DiskTier.class);
    private static final long WATCH_MILLIS = 100;
    private static final long SAVE_PAUSE_NANOS = 1_000_000;

    private final DiskConfig config;
    private final LongSupplier nanoClock;
    private final DiskCounters counters = new DiskCounters();
    private final List<VolumeService> volumes = new ArrayList<>();
    private final WriteBudget budget;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile SeenBefore seen = new SeenBefore(0);
    private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("railhead-disk-watch").factory());

    /** The way to a file or device; the tests' one is faulty. */
    public interface Opener {
        /** Throws {@link OsException}. */
        BlockFile open(String path, long bytes);
    }

    private DiskTier(DiskConfig config, LongSupplier nanoClock) {
        this.config = config;
        this.nanoClock = nanoClock;
        this.budget = new WriteBudget(config.bytesPerDay(), nanoClock);
    }

    /** Opens all files and devices; those with a problem are left out with a line in the log. */
    public static DiskTier open(DiskConfig config, LongSupplier nanoClock) {
        return open(config, DirectFile::open, DiskLayout::of, nanoClock);
    }

    /** The division of a file; the tests' one has small segments. */
    interface Shape {
        DiskLayout of(long volumeBytes, int pageBytes);
    }

    static DiskTier open(DiskConfig config, Opener opener, Shape shape, LongSupplier nanoClock) {
        DiskTier tier = new DiskTier(config, nanoClock);
        long pages = 0;
        for (String path : config.paths()) {
            try {
                pages += tier.add(path, opener, shape);
            } catch (DiskRefusedException e) {
                LOG.error("The disk tier goes on without {}", e.getMessage());
            }
        }
        tier.seen = new SeenBefore(pages);
        tier.volumes.forEach(VolumeService::start);
        Future<?> _ = tier.watch.scheduleWithFixedDelay(tier::watch, WATCH_MILLIS, WATCH_MILLIS,
                TimeUnit.MILLISECONDS);
        return tier;
    }

    /**
     * Opens and closes each file or device that is there, changes nothing, and throws at the first
     * problem.
     */
    public static void check(DiskConfig config) throws DiskRefusedException {
        for (String path : config.paths()) {
            if (Files.notExists(Path.of(path))) {
                continue;
            }
            try (BlockFile file = opened(path, 0, DirectFile::open)) {
                if (file.bytes() < config.bytesEach()) {
                    continue;
                }
                new VolumeOpening(file, path, new SecureRandom())
                        .check(layout(path, file, config.pageBytes(), DiskLayout::of));
            }
        }
    }

    private static BlockFile opened(String path, long bytes, Opener opener)
            throws DiskRefusedException {
        try {
            return opener.open(path, bytes);
        } catch (OsException e) {
            if (DirectFile.isLocked(e)) {
                throw new DiskRefusedException(path + ": another process uses it", e);
            }
            String why = DirectFile.isRefusedDirect(e)
                    ? "its file system refuses direct reads and writes (O_DIRECT)"
                    : e.getMessage();
            throw new DiskRefusedException(path + ": " + why, e);
        }
    }

    private static DiskLayout layout(String path, BlockFile file, int pageBytes, Shape shape)
            throws DiskRefusedException {
        try {
            return shape.of(file.bytes(), pageBytes);
        } catch (IllegalArgumentException e) {
            throw new DiskRefusedException(path + ": " + e.getMessage(), e);
        }
    }

    private long add(String path, Opener opener, Shape shape) throws DiskRefusedException {
        BlockFile file = opened(path, config.bytesEach(), opener);
        try {
            DiskLayout layout = layout(path, file, config.pageBytes(), shape);
            Superblock superblock = new VolumeOpening(file, path, new SecureRandom())
                    .open(layout);
            volumes.add(new VolumeService(path, new DiskVolume(file, superblock), counters,
                    nanoClock, config.hangs()));
            return layout.pages();
        } catch (DiskRefusedException | RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    private void watch() {
        try {
            volumes.forEach(VolumeService::watch);
            seen.turnIfFull();
        } catch (RuntimeException | Error e) {
            // An exception would end the watch for good.
            LOG.error("The watch of the disks failed", e);
        }
    }

    /** Returns whether a version of this object may be held: false is certain. */
    public boolean mayHold(VersionName anyVersion) {
        for (VolumeService volume : volumes) {
            if (volume.mayHold(volume.digest(anyVersion))) {
                return true;
            }
        }
        return false;
    }

    /** The places of one version's pages, as hints. One thread. */
    public final class Held {
        private final List<VersionName.Digest> digests = new ArrayList<>(volumes.size());

        private Held(VersionName version) {
            volumes.forEach(volume -> digests.add(volume.digest(version)));
        }

        /** Returns the number of a volume that holds the page; {@link #NOBODY}. */
        public int holder(long page) {
            for (int i = 0; i < digests.size(); i++) {
                if (volumes.get(i).holds(digests.get(i).page(page))) {
                    return i;
                }
            }
            return NOBODY;
        }
    }

    public Held held(VersionName version) {
        return new Held(version);
    }

    /** Reads adjacent pages from one volume, as far as it has them. */
    public void read(int holder, VersionName version, long first, int count, PageTaker taker) {
        VolumeService volume = volumes.get(holder);
        volume.read(new RunRead(volume.digest(version), first, count, taker, nanoClock));
    }

    /**
     * Offers a page that memory gives up: called before its owner lets it go.
     *
     * @return whether it was leased, and will be written if the disk can
     */
    public boolean offer(EvictedPage page) {
        NotKept refusal = refusal(page, ThreadLocalRandom.current().nextDouble());
        if (refusal != null) {
            counters.count(refusal);
        }
        return refusal == null;
    }

    /**
     * Offers a page at the end, as if it were given up for the second time, and waits while too
     * many wait to be written.
     *
     * @param endNanos the time by {@link System#nanoTime} at which it gives up
     */
    public void save(EvictedPage page, long endNanos) {
        while (counters.queuedBytes.get() + page.slotBytes() > config.queueBytes()
                && System.nanoTime() - endNanos < 0) {
            LockSupport.parkNanos(SAVE_PAUSE_NANOS);
        }
        NotKept refusal = refusal(page, 0);
        if (refusal != null) {
            counters.count(refusal);
        }
    }

    /** @param chance see {@link WriteBudget#trySpend}; 0 takes the page at its first offer too */
    private @Nullable NotKept refusal(EvictedPage page, double chance) {
        VersionName version = page.version();
        if (version.sizeBytes() < config.minObjectBytes()) {
            return NotKept.SMALL;
        }
        if (volumes.isEmpty()) {
            return NotKept.BROKEN;
        }
        VolumeService volume = volumes.get(homeOf(version));
        VersionName.Digest digest = volume.digest(version);
        PageIdentity identity = digest.page(page.index());
        if (volume.find(identity) != null) {
            return NotKept.HELD;
        }
        boolean again = seen.again(identity);
        NotKept refusal = volume.refusal();
        if (refusal != null) {
            return refusal;
        }
        if (volume.isFull()) {
            if (!again && chance > 0) {
                return NotKept.ONCE;
            }
            if (!budget.trySpend(page.slotBytes(), chance)) {
                return NotKept.BUDGET;
            }
        }
        return queue(page, volume, digest);
    }

    private @Nullable NotKept queue(EvictedPage page, VolumeService volume,
            VersionName.Digest digest) {
        int bytes = page.slotBytes();
        if (counters.queuedBytes.addAndGet(bytes) > config.queueBytes()) {
            counters.queuedBytes.addAndGet(-bytes);
            return NotKept.QUEUE;
        }
        PageSlice slice = page.isCurrent() ? page.tryLease() : null;
        if (slice == null) {
            counters.queuedBytes.addAndGet(-bytes);
            return NotKept.OVERTAKEN;
        }
        volume.write(page, slice, digest);
        return null;
    }

    private int homeOf(VersionName version) {
        return Math.floorMod(version.hashCode() * 0x9E3779B9, volumes.size());
    }

    /** Drops pages of a version; those that are being written must not be current any more. */
    public void forget(VersionName version, long first, long count) {
        for (VolumeService volume : volumes) {
            VersionName.Digest digest = volume.digest(version);
            if (volume.volume().names.mayHold(digest.objectHash())) {
                for (long page = first; page < first + count; page++) {
                    volume.forget(digest.page(page));
                }
            }
        }
    }

    /** Returns whether the volumes' old content is all known. */
    public boolean isRecovered() {
        return volumes.stream().allMatch(volume -> volume.volume().isRecovered());
    }

    public DiskStats stats() {
        long capacity = 0;
        long pages = 0;
        long index = 0;
        long written = 0;
        long corrupt = 0;
        int broken = 0;
        int recovering = 0;
        for (VolumeService service : volumes) {
            DiskVolume volume = service.volume();
            capacity += volume.layout.volumeBytes();
            pages += volume.index.size();
            index += volume.index.bytes();
            written += service.writtenBytes();
            corrupt += volume.corrupt.sum();
            broken += service.isBroken() ? 1 : 0;
            recovering += volume.isRecovered() ? 0 : 1;
        }
        return new DiskStats(volumes.size(), broken, recovering, capacity, pages, index,
                counters.queuedBytes.get(), counters.readPages.sum(), counters.readBytes.sum(),
                counters.writtenPages.sum(), written, corrupt, counters.errors.sum(),
                counters.hangs.sum(), counters.notKept());
    }

    /** Writes what waits, for some seconds at most. The caller offers and reads no more. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            volumes.forEach(VolumeService::close);
            watch.shutdownNow();
        }
    }
}
