package io.railhead.cache.disk;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pages that memory has given up, on files and devices. Any thread; no call waits for a disk,
 * except {@link #close}. Each is opened on a thread of its own, and takes part once it is open.
 *
 * <p> {@link DiskAdmission} says which pages are written. All pages of a version go to one volume,
 * so a read of adjacent pages has one disk.
 */
public final class DiskTier implements AutoCloseable {
    /** The answer of {@link Held#holder} for a page that no volume has. */
    public static final int NOBODY = -1;

    private static final Logger LOG = LoggerFactory.getLogger(DiskTier.class);
    private static final long WATCH_MILLIS = 100;

    private final DiskConfig config;
    private final LongSupplier nanoClock;
    private final DiskCounters counters = new DiskCounters();
    /** Those that are open, in the order of the configuration. */
    private volatile List<VolumeService> volumes = List.of();
    private volatile List<OpeningThread> openings = List.of();
    /** Those that are being opened: lowered after the volume takes part. */
    private final AtomicInteger opening = new AtomicInteger();
    /** By path, why the tier goes on without it. */
    private final Map<String, String> refusals = new ConcurrentHashMap<>();
    private final DiskAdmission admission;
    private boolean closed;
    /** Evictions while some volume was being opened; under this tier's lock. */
    private final EarlyEvictions early = new EarlyEvictions();
    private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("railhead-disk-watch").factory());

    private DiskTier(DiskConfig config, LongSupplier nanoClock) {
        this.config = config;
        this.nanoClock = nanoClock;
        this.admission = new DiskAdmission(config, counters, nanoClock,
                () -> opening.get() > 0);
    }

    /**
     * Begins to open all files and devices, and waits for none. Those with a problem are left out
     * with a line in the log.
     */
    public static DiskTier open(DiskConfig config, LongSupplier nanoClock) {
        return open(config, new VolumeFactory(config), nanoClock);
    }

    static DiskTier open(DiskConfig config, VolumeFactory factory, LongSupplier nanoClock) {
        DiskTier tier = new DiskTier(config, nanoClock);
        List<OpeningThread> openings = new ArrayList<>();
        for (int i = 0; i < config.paths().size(); i++) {
            int place = i;
            String path = config.paths().get(i);
            openings.add(new OpeningThread(path, () -> tier.add(path, place, factory)));
        }
        tier.openings = List.copyOf(openings);
        tier.opening.set(openings.size());
        tier.openings.forEach(OpeningThread::start);
        Future<?> _ = tier.watch.scheduleWithFixedDelay(tier::watch, WATCH_MILLIS, WATCH_MILLIS,
                TimeUnit.MILLISECONDS);
        return tier;
    }

    /**
     * Opens and closes each file or device that is there, and changes nothing. It waits some
     * seconds at most.
     */
    public static List<DiskTrial> check(DiskConfig config) {
        return new VolumeFactory(config).trials();
    }

    private void add(String path, int place, VolumeFactory factory) {
        try {
            join(service(path, place, factory.open(path)));
        } catch (DiskRefusedException e) {
            LOG.error("The disk tier goes on without {}", e.getMessage());
            refusals.put(path, String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            LOG.error("The disk tier goes on without {}", path, e);
            refusals.put(path, path + ": " + e);
        } finally {
            opened();
        }
    }

    private synchronized void opened() {
        if (opening.decrementAndGet() == 0) {
            early.clear();
        }
    }

    private VolumeService service(String path, int place, DiskVolume ownedVolume) {
        try {
            return new VolumeService(path, place, ownedVolume, counters, nanoClock,
                    config.hangs(), this::release);
        } catch (RuntimeException | Error e) {
            ownedVolume.close();
            throw e;
        }
    }

    private void release(Runnable release) {
        try {
            watch.execute(release);
        } catch (RejectedExecutionException ended) {
            // Nobody reads any more who could be woken.
            release.run();
        }
    }

    /** Lets a volume take part; closes it if it comes too late, or cannot be started. */
    private void join(VolumeService ownedVolume) {
        boolean joined = false;
        try {
            joined = tryJoin(ownedVolume);
        } finally {
            if (!joined) {
                ownedVolume.close();
            }
        }
    }

    private synchronized boolean tryJoin(VolumeService ownedVolume) {
        if (closed) {
            return false;
        }
        List<VolumeService> open = Stream.concat(volumes.stream(), Stream.of(ownedVolume))
                .sorted(Comparator.comparingInt(VolumeService::place))
                .toList();
        admission.resize(open.stream().mapToLong(each -> each.volume().layout.pages()).sum());
        ownedVolume.start();
        early.applyTo(ownedVolume);
        volumes = open;
        return true;
    }

    private void watch() {
        try {
            openings.forEach(OpeningThread::watch);
            volumes.forEach(VolumeService::watch);
            admission.tick();
        } catch (RuntimeException | Error e) {
            // An exception would end the watch for good.
            LOG.error("The watch of the disks failed", e);
        }
    }

    /** Returns whether a version of this object may be held: false is certain. */
    public boolean mayHold(VersionName anyVersion) {
        return held(anyVersion).mayHold();
    }

    /** The places of one version's pages, as hints. One thread at a time. */
    public final class Held {
        private final List<VolumeService> open = volumes;
        private final List<VersionName.Digest> digests = new ArrayList<>(open.size());

        private Held(VersionName version) {
            open.forEach(volume -> digests.add(volume.digest(version)));
        }

        /** Returns whether a version of this object may be held: false is certain. */
        public boolean mayHold() {
            for (int i = 0; i < digests.size(); i++) {
                if (open.get(i).mayHold(digests.get(i))) {
                    return true;
                }
            }
            return false;
        }

        /** Returns the number of a volume that holds the page; {@link #NOBODY}. */
        public int holder(long page) {
            for (int i = 0; i < digests.size(); i++) {
                if (open.get(i).holds(digests.get(i), digests.get(i).page(page))) {
                    return open.get(i).place();
                }
            }
            return NOBODY;
        }

        /** Returns the number of a volume that holds each of these pages; {@link #NOBODY}. */
        public int holderOfEach(long... pages) {
            for (int i = 0; i < digests.size(); i++) {
                if (open.get(i).mayHold(digests.get(i)) && hasAll(i, pages)) {
                    return open.get(i).place();
                }
            }
            return NOBODY;
        }

        /** Returns whether a volume has each of these pages, though it may be left alone now. */
        public boolean hasEach(long... pages) {
            return IntStream.range(0, digests.size()).anyMatch(i -> hasAll(i, pages));
        }

        private boolean hasAll(int i, long[] pages) {
            VersionName.Digest digest = digests.get(i);
            return Arrays.stream(pages)
                    .allMatch(page -> open.get(i).has(digest, digest.page(page)));
        }

        /** Returns whether some volume holds each of these pages. */
        public boolean holdsAll(long first, long end) {
            boolean all = mayHold();
            for (long page = first; all && page < end; page++) {
                all = holder(page) != NOBODY;
            }
            return all;
        }

        /** Reads adjacent pages from one volume, as far as it has them. The last call. */
        public void read(int holder, long first, int count, PageTaker taker) {
            int i = 0;
            while (open.get(i).place() != holder) {
                i++;
            }
            open.get(i).read(new RunRead(digests.get(i), first, count, taker, nanoClock));
        }
    }

    public Held held(VersionName version) {
        return new Held(version);
    }

    /**
     * Offers a page that memory gives up: called before its owner lets it go.
     *
     * @return whether it was leased, and will be written if the disk can
     */
    public boolean offer(EvictedPage page) {
        return admission.offer(page, volumes);
    }

    /**
     * Offers a page at the end, as if it were given up for the second time, and waits while too
     * many wait to be written.
     *
     * @param endNanos the time by {@link System#nanoTime} at which it gives up
     */
    public void save(EvictedPage page, long endNanos) {
        admission.save(page, volumes, endNanos);
    }

    /** Offers a page that an operator wants on disk; on the same terms as {@link #offer}. */
    public Kept keep(EvictedPage page) {
        return admission.keep(page, volumes);
    }

    /**
     * Offers a page of an object that no store has; on the same terms as {@link #offer}, but as if
     * it were given up for the second time.
     */
    public Kept demote(EvictedPage page) {
        return admission.demote(page, volumes);
    }

    /** Returns the most bytes of a tenant's pages that all open volumes hold. */
    public long shareBytes(String tenant) {
        DiskConfig.Share share = config.tenants().get(tenant);
        long pages = volumes.stream().mapToLong(each -> each.volume().layout.pages()).sum();
        return (long) (pages * config.pageBytes() * (share == null ? 1 : share.quota()));
    }

    /** Returns the most bytes of pages that wait to be written. */
    public long queueBytes() {
        return config.queueBytes();
    }

    /** Returns how many bytes of pages more may wait to be written now. */
    public long queueRoomBytes() {
        return admission.queueRoomBytes();
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

    /**
     * Evicts by name, whatever versions of the objects are on disk: on its return none is found.
     *
     * @return the disks on which the eviction is not recorded, so that a restart could undo it
     */
    public CompletableFuture<List<String>> evict(EvictedNames names) {
        return evict(names, volume -> true);
    }

    /**
     * Evicts an object whose bytes were refuted, in the background, where some version of it may be
     * on disk.
     */
    public void evictRefuted(VersionName anyVersion) {
        CompletableFuture<List<String>> _ = evict(
                new EvictedNames(anyVersion.bucket(), anyVersion.key(), EvictedNames.Kind.KEY),
                volume -> volume.volume().mayHave(volume.digest(anyVersion)));
    }

    private CompletableFuture<List<String>> evict(EvictedNames names,
            Predicate<VolumeService> where) {
        List<VolumeService> open;
        synchronized (this) {
            if (opening.get() > 0) {
                early.add(names);
            }
            open = volumes;
        }
        Set<String> missing = ConcurrentHashMap.newKeySet();
        missing.addAll(config.paths());
        List<CompletableFuture<Boolean>> records = new ArrayList<>();
        for (VolumeService volume : open) {
            if (where.test(volume)) {
                records.add(volume.evict(names).whenComplete((recorded, _) -> {
                    if (Boolean.TRUE.equals(recorded)) {
                        missing.remove(volume.path());
                    }
                }));
            }
        }
        return CompletableFuture.allOf(records.toArray(CompletableFuture<?>[]::new))
                .thenApply(_ -> missing.stream().sorted().toList());
    }

    /** Returns whether each tenant's pages are encrypted by a key that can be erased. */
    public boolean isEncrypted() {
        return config.keys() != null;
    }

    /**
     * Erases all that a tenant has on disk, by erasing its keys. Memory must have given its pages
     * up already.
     *
     * @return the disks on which it is not erased
     */
    public CompletableFuture<List<String>> erase(String tenant) {
        Set<String> missing = ConcurrentHashMap.newKeySet();
        missing.addAll(config.paths());
        return CompletableFuture
                .allOf(volumes.stream()
                        .map(volume -> volume.erase(tenant).thenAccept(erased -> {
                            if (erased) {
                                missing.remove(volume.path());
                            }
                        }))
                        .toArray(CompletableFuture<?>[]::new))
                .thenApply(_ -> missing.stream().sorted().toList());
    }

    /** Returns whether no volume is being opened, and the old content of all is known. */
    public boolean isRecovered() {
        return opening.get() == 0
                && volumes.stream().allMatch(volume -> volume.volume().isRecovered());
    }

    /** Returns each file and device, in the order of the configuration. */
    public List<VolumeState> volumes() {
        return report().volumes();
    }

    public DiskStats stats() {
        return report().stats();
    }

    private TierReport report() {
        // First: a volume takes part before it stops to count here.
        int unopened = opening.get();
        return new TierReport(config, volumes, unopened, Map.copyOf(refusals), counters);
    }

    /**
     * Writes what waits, to all volumes at once, for some seconds at most. The caller offers and
     * reads no more.
     */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        // The end waits for each task.
        try (ExecutorService closing = Executors.newThreadPerTaskExecutor(
                Thread.ofPlatform().daemon().name("railhead-disk-close").factory())) {
            volumes.forEach(volume -> closing.execute(volume::close));
        }
        // Releases that wait are done; without them their memory would stay in use.
        watch.shutdown();
        try {
            boolean _ = watch.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
