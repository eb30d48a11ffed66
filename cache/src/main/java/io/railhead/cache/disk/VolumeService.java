package io.railhead.cache.disk;

import io.railhead.cache.disk.DiskBreaker.Change;
import io.railhead.cache.disk.DiskIndex.Place;
import io.railhead.cache.disk.DiskStats.NotKept;
import io.railhead.cache.memory.PageSlice;
import io.railhead.os.Mapping;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads of one volume: one that recovers it and then writes, and some that read. They are
 * platform threads, since each call blocks its carrier for as long as the disk takes.
 *
 * <p> A page that waits to be written keeps its lease until the write has returned, however long
 * that takes: the disk reads the page's own memory. Queued bytes are bounded, so a hanging disk
 * keeps no more than that, and a page for each reader.
 *
 * <p> Reads and writes are stopped apart: a disk that can only be read is read, and a write that
 * hangs closes nothing but writes. Without reads there are no writes: nobody would have them.
 *
 * <p> A long class, since all of its threads share the queues and both breakers.
 */
final class VolumeService implements RunRead.Disk, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeService.class);
    /** Each has memory for a page. */
    static final int READERS = 8;
    private static final int MOST_READS = 1024;
    private static final int MOST_TENANTS = 10_000;
    /** Writes are long, and a flush of a consumer's disk takes seconds. */
    private static final long WRITE_PATIENCE = 5;
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** The part of that in which pages are written that still wait; then come the footers. */
    private static final double CLOSE_WRITES = 0.5;
    /** The part at whose end no segment more is zeroed. */
    private static final double CLOSE_ZEROS = 0.8;

    private final String path;
    private final int place;
    private final DiskVolume volume;
    private final DiskCounters counters;
    private final LongSupplier nanoClock;
    private final long hangsNanos;
    private final DiskBreaker reading;
    private final DiskBreaker writing;
    /** True while a probe of the disk's reads is queued or under way. */
    private final AtomicBoolean probing = new AtomicBoolean();
    private final byte[] secret;
    /** The identifiers of tenants seen. */
    private final ConcurrentMap<String, TenantId> tenants = new ConcurrentHashMap<>();
    private final SegmentWriter segments;
    private final LinkedBlockingQueue<Write> writes = new LinkedBlockingQueue<>();
    private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();
    /** All that wait, and the one under way. */
    private final Set<Write> unwritten = ConcurrentHashMap.newKeySet();
    private final EvictionLog evictions;
    private final LinkedBlockingQueue<Reading> reads = new LinkedBlockingQueue<>(MOST_READS);
    private final Set<RunRead> active = ConcurrentHashMap.newKeySet();
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicInteger running = new AtomicInteger();
    /** Both count from the begin of the end, and are set before it is told. */
    private volatile long lastWriteNanos;
    private volatile long lastZeroNanos;
    private volatile boolean closing;
    /** The start of the write under way; 0 if there is none. */
    private volatile long writingSince;
    /** The start of the last write that counted as hanging; the watch's thread only. */
    private long hungSince;

    /** The work of a reading thread, with a block of the thread's own for probes. */
    private interface Reading {
        void run(MemorySegment own);
    }

    /** A page that waits to be written. Not a record: two are never equal. */
    private static final class Write {
        private final EvictedPage page;
        private final PageSlice ownedSlice;
        private final VersionName.Digest version;
        private final TenantId tenant;
        /** The number of the last eviction by name when the page was offered. */
        private final long evictions;

        Write(EvictedPage page, PageSlice ownedSlice, VersionName.Digest version,
                TenantId tenant, long evictions) {
            this.tenant = tenant;
            this.page = page;
            this.ownedSlice = ownedSlice;
            this.version = version;
            this.evictions = evictions;
        }

        SegmentWriter.Offered offered() {
            return new SegmentWriter.Offered(tenant, version.page(page.index()), version,
                    page.crc32c(ownedSlice), ownedSlice.segments(), evictions, page::isCurrent);
        }
    }

    /** @param place the volume's number in the configuration */
    VolumeService(String path, int place, DiskVolume ownedVolume, DiskCounters counters,
            LongSupplier nanoClock, Duration hangs) {
        this.path = path;
        this.place = place;
        this.volume = ownedVolume;
        this.counters = counters;
        this.nanoClock = nanoClock;
        this.hangsNanos = hangs.toNanos();
        this.reading = new DiskBreaker(nanoClock);
        this.writing = new DiskBreaker(nanoClock);
        this.secret = volume.superblock.secret().bytes();
        this.segments = new SegmentWriter(volume, nanoClock);
        this.evictions = new EvictionLog(path, volume, this::oldestOffer, nanoClock);
    }

    void start() {
        start("write", this::writeAll);
        start("evict", this::writeEvictions);
        for (int i = 0; i < READERS; i++) {
            start("read-" + i, this::readAll);
        }
    }

    private void start(String name, Runnable task) {
        running.incrementAndGet();
        threads.add(Thread.ofPlatform().daemon().name("railhead-disk-" + name).start(() -> {
            try {
                task.run();
            } finally {
                running.decrementAndGet();
            }
        }));
    }

    int place() {
        return place;
    }

    String path() {
        return path;
    }

    VersionName.Digest digest(VersionName version) {
        return version.digest(secret);
    }

    boolean mayHold(VersionName.Digest object) {
        return !reading.isOpen() && volume.names.mayHold(object.objectHash());
    }

    @Override
    public @Nullable Place find(VersionName.Digest version, PageIdentity identity) {
        return volume.find(version, identity);
    }

    boolean holds(VersionName.Digest version, PageIdentity identity) {
        return !reading.isOpen() && volume.find(version, identity) != null;
    }

    /** Returns the number of the last eviction by name. */
    long evictions() {
        return volume.tombstones.number();
    }

    private long oldestOffer() {
        return unwritten.stream().mapToLong(each -> each.evictions).min().orElse(Long.MAX_VALUE);
    }

    /**
     * Evicts by name: on its return no page is found that the eviction covers.
     *
     * @return whether the eviction survives a crash, once that is known
     */
    CompletableFuture<Boolean> evict(EvictedNames names) {
        return evictions.add(names);
    }

    /** Evicts everything that the volume has, before it takes part. */
    void evictEverything() {
        evictions.addEverything();
    }

    /**
     * Erases all that a tenant has, on the writing thread.
     *
     * @return whether its key is gone from the disk
     */
    CompletableFuture<Boolean> erase(String tenant) {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        commands.add(() -> {
            TenantKeys keys = volume.keys;
            boolean erased = keys != null && volume.isRecovered() && call(() -> {
                // Each step is a call of its own: many of them are no hang.
                counters.errors.add(segments.erase(tenant(tenant), keys,
                        () -> writingSince = nanoClock.getAsLong() | 1));
                return true;
            });
            done.complete(erased);
        });
        return done;
    }

    private void writeEvictions() {
        try {
            evictions.run(() -> closing);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns whether every further page of the tenant drops others. */
    boolean isFullFor(String tenant) {
        return volume.isFullFor(tenant(tenant));
    }

    TenantId tenant(String name) {
        if (tenants.size() >= MOST_TENANTS) {
            tenants.clear();
        }
        return tenants.computeIfAbsent(name, volume::tenant);
    }

    /** Returns the reason why nothing can be written now; null if something can. */
    @Nullable
    NotKept refusal() {
        if (!volume.isRecovered()) {
            return NotKept.RECOVERING;
        }
        return isBroken() ? NotKept.BROKEN : null;
    }

    /** Queues a page, whose bytes are counted already. */
    void write(EvictedPage page, PageSlice ownedSlice, VersionName.Digest version,
            long evictionsBefore) {
        Write write = new Write(page, ownedSlice, version, tenant(page.tenant()),
                evictionsBefore);
        unwritten.add(write);
        writes.add(write);
        if (closing) {
            dropWrites();
        }
    }

    private void dropWrites() {
        for (Write each = writes.poll(); each != null; each = writes.poll()) {
            finish(each);
        }
    }

    private void finish(Write write) {
        // The length first: a closed slice may be another page's memory.
        int bytes = write.page.slotBytes();
        write.ownedSlice.close();
        unwritten.remove(write);
        counters.queuedBytes.addAndGet(-bytes);
    }

    private void writeAll() {
        recover();
        try {
            while (!closing || (!writes.isEmpty() && isBefore(lastWriteNanos))) {
                runCommands();
                Write next = writes.poll(100, TimeUnit.MILLISECONDS);
                if (next != null) {
                    write(next);
                }
                if (writing.tryProbe()) {
                    call(() -> {
                        segments.probe();
                        return true;
                    });
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        runCommands();
        if (volume.isRecovered()) {
            call(() -> {
                segments.seal(() -> !isBefore(lastZeroNanos));
                return true;
            });
        }
    }

    private void runCommands() {
        for (Runnable each = commands.poll(); each != null; each = commands.poll()) {
            each.run();
        }
    }

    private static boolean isBefore(long nanos) {
        return System.nanoTime() - nanos < 0;
    }

    private void recover() {
        try {
            int found = volume.recover(() -> closing);
            if (!closing) {
                LOG.info("{}: {} of {} segments hold pages, {} pages", path, found,
                        volume.layout.segments(), volume.index.size());
            }
            if (volume.unreadable() > 0) {
                counters.errors.add(volume.unreadable());
                LOG.warn("{}: {} segments could not be read, and are left alone until a restart",
                        path, volume.unreadable());
            }
        } catch (RuntimeException | Error e) {
            LOG.error("{}: what the disk holds could not be read: nothing is written to it", path,
                    e);
        }
    }

    private void write(Write write) {
        try {
            if (isBroken()) {
                counters.count(NotKept.BROKEN);
                return;
            }
            @Nullable
            NotKept[] refusal = {NotKept.OVERTAKEN};
            boolean _ = call(() -> {
                refusal[0] = segments.write(write.offered());
                return true;
            });
            NotKept reason = refusal[0];
            if (reason == null) {
                counters.writtenPages.increment();
            } else {
                counters.count(reason);
            }
        } finally {
            finish(write);
        }
    }

    private interface Call {
        boolean run();
    }

    /** Runs a call that writes; false if it failed. */
    private boolean call(Call call) {
        writingSince = nanoClock.getAsLong() | 1;
        try {
            boolean result = call.run();
            sayOfWrites(writing.succeeded(), "");
            return result;
        } catch (OsException e) {
            counters.errors.increment();
            sayOfWrites(writing.failed(), String.valueOf(e.getMessage()));
            return false;
        } catch (RuntimeException | Error e) {
            // Without its thread, nothing would ever be written again.
            counters.errors.increment();
            LOG.error("{}: a page could not be written", path, e);
            sayOfWrites(writing.failed(), String.valueOf(e.getMessage()));
            return false;
        } finally {
            writingSince = 0;
        }
    }

    /** Starts a read; it ends at once if too many wait, or the disk must be left alone. */
    void read(RunRead read) {
        active.add(read);
        boolean queued = !closing && !reading.isOpen() && reads.offer(own -> readNow(read));
        if (!queued || closing) {
            active.remove(read);
            read.cancel();
        }
    }

    private void readAll() {
        try (Mapping own = Mapping.anonymous(DiskLayout.UNIT_BYTES)) {
            while (!closing) {
                reads.take().run(own.segment());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void readNow(RunRead read) {
        try {
            read.read(this);
        } catch (RuntimeException | Error e) {
            LOG.error("{}: a read ended early", path, e);
        } finally {
            active.remove(read);
        }
    }

    /** Reads the last superblock. */
    private void probe(MemorySegment own) {
        try {
            volume.file.read(own, volume.layout.secondSuperblockAt());
            say(reading.succeeded(), "");
        } catch (OsException e) {
            counters.errors.increment();
            say(reading.failed(), String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            LOG.error("{}: a probe failed", path, e);
        } finally {
            probing.set(false);
        }
    }

    @Override
    public boolean tryRead(PageIdentity identity, Place place, List<MemorySegment> into) {
        try {
            DiskVolume.Outcome outcome = volume.read(identity, place, into);
            say(reading.succeeded(), "");
            if (outcome == DiskVolume.Outcome.RIGHT) {
                counters.readPages.increment();
                counters.readBytes.add(place.length());
            } else if (outcome == DiskVolume.Outcome.CORRUPT) {
                LOG.warn("{}: a page is not what was written, and is dropped", path);
            }
            return outcome == DiskVolume.Outcome.RIGHT;
        } catch (OsException e) {
            counters.errors.increment();
            say(reading.failed(), String.valueOf(e.getMessage()));
            return false;
        }
    }

    /** Ends reads that hang, and leaves a hanging disk alone. Called a few times a second. */
    void watch() {
        long now = nanoClock.getAsLong();
        active.removeIf(read -> isLate(read, now));
        long since = writingSince;
        if (since != 0 && since != hungSince && now - since > WRITE_PATIENCE * hangsNanos) {
            hungSince = since;
            counters.hangs.increment();
            sayOfWrites(writing.hung(), "a write has taken more than "
                    + WRITE_PATIENCE * hangsNanos / 1_000_000 + " ms");
        }
        if (reading.tryProbe() && probing.compareAndSet(false, true)
                && !reads.offer(this::probe)) {
            probing.set(false);
        }
    }

    private boolean isLate(RunRead read, long now) {
        RunRead.Late late = read.endIfLate(now, hangsNanos);
        if (late == RunRead.Late.READING) {
            counters.hangs.increment();
            say(reading.hung(), "a read has taken more than " + hangsNanos / 1_000_000 + " ms");
        }
        return late != RunRead.Late.NOT;
    }

    private void say(Change change, String reason) {
        switch (change) {
            case OPENED ->
                LOG.error("{}: the disk is left alone for now, reads go to the store: {}",
                        path, reason);
            case CLOSED -> LOG.info("{}: the disk works again", path);
            case NONE -> {
            }
        }
    }

    private void sayOfWrites(Change change, String reason) {
        switch (change) {
            case OPENED ->
                LOG.error("{}: nothing is written to the disk for now: {}", path, reason);
            case CLOSED -> LOG.info("{}: the disk is written again", path);
            case NONE -> {
            }
        }
    }

    boolean isBroken() {
        return reading.isOpen() || writing.isOpen();
    }

    DiskVolume volume() {
        return volume;
    }

    long writtenBytes() {
        return segments.writtenBytes.sum();
    }

    void forget(PageIdentity identity) {
        Place place = volume.find(identity);
        if (place != null) {
            volume.index.remove(identity, place.unit());
        }
    }

    /**
     * Writes what waits, as far as there is time, and then the open segments' footers, so that all
     * written pages are kept. It gives up on a disk that hangs: then its memory and descriptor stay
     * in use until the process ends.
     */
    @Override
    public void close() {
        long begun = System.nanoTime();
        lastWriteNanos = begun + (long) (CLOSE_WRITES * CLOSE_NANOS);
        lastZeroNanos = begun + (long) (CLOSE_ZEROS * CLOSE_NANOS);
        closing = true;
        active.forEach(RunRead::cancel);
        for (int i = 0; i < READERS; i++) {
            boolean _ = reads.offer(own -> {});
        }
        long end = begun + CLOSE_NANOS;
        boolean interrupted = false;
        for (Thread thread : threads) {
            try {
                thread.join(Duration.ofNanos(Math.max(1, end - System.nanoTime())));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        dropWrites();
        if (running.get() == 0) {
            segments.close();
            volume.close();
        } else {
            LOG.error("{}: the disk hangs at the end; its memory stays in use", path);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
