package io.railhead.cache.disk;

import io.railhead.cache.disk.DiskStats.NotKept;
import io.railhead.cache.memory.PageSlice;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads of one volume: one that recovers it and then writes, one for evictions, and some that
 * read. They are platform threads, since each call blocks its carrier for as long as the disk
 * takes. {@link VolumeReads} and {@link VolumeWrites} have their rules. Any thread.
 */
final class VolumeService implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeService.class);
    private static final int MOST_TENANTS = 10_000;
    private static final Duration END_PATIENCE = Duration.ofSeconds(5);

    private final String path;
    private final int place;
    private final DiskVolume volume;
    private final LongSupplier nanoClock;
    private final byte[] secret;
    /** The identifiers of tenants seen. */
    private final ConcurrentMap<String, TenantId> tenants = new ConcurrentHashMap<>();
    private final VolumeReads reads;
    private final VolumeWrites writes;
    private final EvictionLog evictions;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicInteger running = new AtomicInteger();
    private volatile boolean closing;

    /**
     * @param place the volume's number in the configuration
     * @param releases see {@link VolumeWrites}
     */
    VolumeService(String path, int place, DiskVolume ownedVolume, DiskCounters counters,
            LongSupplier nanoClock, Duration hangs, Executor releases) {
        this.path = path;
        this.place = place;
        this.volume = ownedVolume;
        this.nanoClock = nanoClock;
        this.secret = volume.superblock.secret().bytes();
        this.reads = new VolumeReads(path, volume, counters, nanoClock, hangs.toNanos());
        this.writes = new VolumeWrites(path, volume, counters, nanoClock, hangs.toNanos(),
                reads::areStopped, releases);
        this.evictions = new EvictionLog(path, volume, writes::oldestOffer, nanoClock);
    }

    void start() {
        start("write", writes::run);
        start("evict", this::writeEvictions);
        for (int i = 0; i < VolumeReads.THREADS; i++) {
            start("read-" + i, reads::readAll);
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

    private void writeEvictions() {
        try {
            evictions.run(() -> closing);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    int place() {
        return place;
    }

    String path() {
        return path;
    }

    DiskVolume volume() {
        return volume;
    }

    VersionName.Digest digest(VersionName version) {
        return version.digest(secret);
    }

    TenantId tenant(String name) {
        if (tenants.size() >= MOST_TENANTS) {
            tenants.clear();
        }
        return tenants.computeIfAbsent(name, volume::tenant);
    }

    boolean mayHold(VersionName.Digest object) {
        return !reads.areStopped() && volume.names.mayHold(object.objectHash());
    }

    /** Returns whether the volume has the page, even if the disk is left alone now. */
    boolean has(VersionName.Digest version, PageIdentity identity) {
        return volume.find(version, identity) != null;
    }

    boolean holds(VersionName.Digest version, PageIdentity identity) {
        return !reads.areStopped() && has(version, identity);
    }

    /** Starts a read; it ends at once if too many wait, or the disk must be left alone. */
    void read(RunRead read) {
        reads.read(read);
    }

    /** Returns the number of the last eviction by name. */
    long evictions() {
        return volume.tombstones.number();
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
        return writes.erase(tenant(tenant));
    }

    /** Drops a page. */
    void forget(PageIdentity identity) {
        DiskIndex.Place at = volume.find(identity);
        if (at != null) {
            volume.index.remove(identity, at.unit());
        }
    }

    /** Returns whether every further page of the tenant drops others. */
    boolean isFullFor(String tenant) {
        return volume.isFullFor(tenant(tenant));
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
        writes.add(new WaitingPage(page, ownedSlice, version, tenant(page.tenant()),
                evictionsBefore));
    }

    /** Drops a waiting page of a tenant that has more of them; false if none has. */
    boolean tryMakeRoom(String tenant, int bytes) {
        return writes.tryMakeRoom(tenant(tenant), bytes);
    }

    boolean isBroken() {
        return writes.areStopped();
    }

    long writtenBytes() {
        return writes.writtenBytes();
    }

    /** Ends calls that hang, and leaves a hanging disk alone. Called a few times a second. */
    void watch() {
        long now = nanoClock.getAsLong();
        reads.watch(now);
        writes.watch(now);
    }

    /**
     * Writes what waits, as far as there is time, and then the open segments' footers, so that all
     * written pages are kept. It gives up on a disk that hangs: then its memory and descriptor stay
     * in use until the process ends.
     */
    @Override
    public void close() {
        long end = System.nanoTime() + END_PATIENCE.toNanos();
        writes.end(END_PATIENCE);
        closing = true;
        reads.end();
        boolean interrupted = false;
        for (Thread thread : threads) {
            try {
                thread.join(Duration.ofNanos(Math.max(1, end - System.nanoTime())));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        writes.ended();
        evictions.ended();
        if (running.get() == 0) {
            writes.free();
            volume.close();
        } else {
            LOG.error("{}: the disk hangs at the end; its memory stays in use", path);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
