package io.railhead.cache.disk;

import io.railhead.cache.disk.DiskBreaker.Change;
import io.railhead.cache.disk.DiskIndex.Place;
import io.railhead.os.Mapping;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reads of one volume, by some threads that wait for the disk. A watch ends those that hang,
 * and the disk is left alone then until a probe succeeds. Any thread but where it says otherwise.
 */
final class VolumeReads implements RunRead.Disk {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeReads.class);
    /** The number of threads; each has memory for a page. */
    static final int THREADS = 8;
    private static final int MOST_WAITING = 1024;

    private final String path;
    private final DiskVolume volume;
    private final DiskCounters counters;
    private final long hangsNanos;
    private final DiskBreaker breaker;
    /** True while a probe is queued or under way. */
    private final AtomicBoolean probing = new AtomicBoolean();
    private final LinkedBlockingQueue<Reading> waiting = new LinkedBlockingQueue<>(MOST_WAITING);
    private final Set<RunRead> active = ConcurrentHashMap.newKeySet();
    private volatile boolean closing;

    /** The work of a reading thread, with a block of the thread's own for probes. */
    private interface Reading {
        void run(MemorySegment own);
    }

    VolumeReads(String path, DiskVolume volume, DiskCounters counters, LongSupplier nanoClock,
            long hangsNanos) {
        this.path = path;
        this.volume = volume;
        this.counters = counters;
        this.hangsNanos = hangsNanos;
        this.breaker = new DiskBreaker(nanoClock);
    }

    /** Returns whether the disk is left alone. */
    boolean areStopped() {
        return breaker.isOpen();
    }

    @Override
    public @Nullable Place find(VersionName.Digest version, PageIdentity identity) {
        return volume.find(version, identity);
    }

    /** Starts a read; it ends at once if too many wait, or the disk must be left alone. */
    void read(RunRead read) {
        active.add(read);
        boolean queued = !closing && !breaker.isOpen()
                && waiting.offer(own -> readNow(read));
        if (!queued || closing) {
            active.remove(read);
            read.cancel();
        }
    }

    /** Reads until the end: the work of each thread. */
    void readAll() {
        try (Mapping own = Mapping.anonymous(DiskLayout.UNIT_BYTES)) {
            while (!closing) {
                waiting.take().run(own.segment());
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

    @Override
    public boolean tryRead(PageIdentity identity, Place place, List<MemorySegment> into) {
        try {
            PageReader.Outcome outcome = volume.read(identity, place, into);
            say(breaker.succeeded(), "");
            if (outcome == PageReader.Outcome.RIGHT) {
                counters.readPages.increment();
                counters.readBytes.add(place.length());
            } else if (outcome == PageReader.Outcome.CORRUPT) {
                LOG.warn("{}: a page is not what was written, and is dropped", path);
            }
            return outcome == PageReader.Outcome.RIGHT;
        } catch (OsException e) {
            counters.errors.increment();
            say(breaker.failed(), String.valueOf(e.getMessage()));
            return false;
        }
    }

    /** Reads the last superblock. */
    private void probe(MemorySegment own) {
        try {
            volume.file.read(own, volume.layout.secondSuperblockAt());
            say(breaker.succeeded(), "");
        } catch (OsException e) {
            counters.errors.increment();
            say(breaker.failed(), String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            LOG.error("{}: a probe failed", path, e);
        } finally {
            probing.set(false);
        }
    }

    /** Ends reads that hang, and leaves a hanging disk alone. Called a few times a second. */
    void watch(long now) {
        active.removeIf(read -> isLate(read, now));
        if (breaker.tryProbe() && probing.compareAndSet(false, true)
                && !waiting.offer(this::probe)) {
            probing.set(false);
        }
    }

    private boolean isLate(RunRead read, long now) {
        RunRead.Late late = read.endIfLate(now, hangsNanos);
        if (late == RunRead.Late.READING) {
            counters.hangs.increment();
            say(breaker.hung(), "a read has taken more than " + hangsNanos / 1_000_000 + " ms");
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

    /** Ends what waits; the threads end once the disk has let go of them. */
    void end() {
        closing = true;
        active.forEach(RunRead::cancel);
        for (int i = 0; i < THREADS; i++) {
            boolean _ = waiting.offer(own -> {});
        }
    }
}
