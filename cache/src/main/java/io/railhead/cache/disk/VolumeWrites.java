package io.railhead.cache.disk;

import io.railhead.cache.disk.DiskBreaker.Change;
import io.railhead.cache.disk.DiskStats.NotKept;
import io.railhead.os.OsException;
import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The writes of one volume, by one thread, which recovers the volume first.
 *
 * <p> A page that waits keeps its lease until its write has returned, however long that takes: the
 * disk reads the page's own memory. Queued bytes are bounded, so a hanging disk keeps no more.
 *
 * <p> Writes are stopped apart from reads: a disk that can only be read is read, and a write that
 * hangs closes nothing but writes. Without reads there are no writes: nobody would have them.
 */
final class VolumeWrites {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeWrites.class);
    private static final long POLL_MILLIS = 100;
    /** Writes are long, and a flush of a consumer's disk takes seconds. */
    private static final long PATIENCE = 5;
    /** The part of the time for the end in which pages are written that still wait. */
    private static final double END_WRITES = 0.5;
    /** The part at whose end no segment more is zeroed. */
    private static final double END_ZEROS = 0.8;

    private final String path;
    private final DiskVolume volume;
    private final DiskCounters counters;
    private final LongSupplier nanoClock;
    private final long hangsNanos;
    private final BooleanSupplier readsStopped;
    private final Executor releases;
    private final DiskBreaker breaker;
    private final SegmentWriter segments;
    private final WriteQueue queue = new WriteQueue();
    private final Queue<Erasure> erasures = new ConcurrentLinkedQueue<>();
    /** All that wait, and the one under way. */
    private final Set<WaitingPage> unwritten = ConcurrentHashMap.newKeySet();
    /** Both count from the begin of the end, and are set before it is told. */
    private volatile long lastWriteNanos;
    private volatile long lastZeroNanos;
    private volatile boolean closing;
    private volatile boolean ended;
    /** The start of the write under way; 0 if there is none. */
    private volatile long writingSince;
    /** The start of the last write that counted as hanging; the watch's thread only. */
    private long hungSince;

    /** @param done completes with whether the tenant's key is gone from the disk */
    private record Erasure(TenantId tenant, CompletableFuture<Boolean> done) {}

    /**
     * @param readsStopped whether the disk is left alone altogether
     * @param releases releases pages that are dropped while another is offered: who offers holds
     *            the lock of a key, and a release may wake a reader on the same thread
     */
    VolumeWrites(String path, DiskVolume volume, DiskCounters counters, LongSupplier nanoClock,
            long hangsNanos, BooleanSupplier readsStopped, Executor releases) {
        this.releases = releases;
        this.path = path;
        this.volume = volume;
        this.counters = counters;
        this.nanoClock = nanoClock;
        this.hangsNanos = hangsNanos;
        this.readsStopped = readsStopped;
        this.breaker = new DiskBreaker(nanoClock);
        this.segments = new SegmentWriter(volume, nanoClock);
    }

    /** Returns whether nothing is written for now. */
    boolean areStopped() {
        return readsStopped.getAsBoolean() || breaker.isOpen();
    }

    long writtenBytes() {
        return segments.writtenBytes.sum();
    }

    /** Returns the number of the last eviction when the oldest waiting page was offered. */
    long oldestOffer() {
        return unwritten.stream().mapToLong(WaitingPage::evictions).min().orElse(Long.MAX_VALUE);
    }

    /** Queues a page, whose bytes are counted already. At the end it is dropped a moment later. */
    void add(WaitingPage ownedPage) {
        unwritten.add(ownedPage);
        queue.add(ownedPage);
        // Checked last: an end that began before has not seen the page, perhaps.
        if (closing && queue.tryTake(ownedPage)) {
            dropLater(ownedPage);
        }
    }

    /**
     * Drops a waiting page of the tenant that has most of them. Its memory is free a moment later.
     *
     * @param bytes of the page for which there is no room
     * @return false if no other tenant has more than this one
     */
    boolean tryMakeRoom(TenantId tenant, int bytes) {
        WaitingPage dropped = queue.tryTakeFor(tenant, bytes);
        if (dropped == null) {
            return false;
        }
        counters.count(NotKept.QUEUE);
        dropLater(dropped);
        return true;
    }

    private void dropLater(WaitingPage page) {
        unwritten.remove(page);
        counters.queuedBytes.addAndGet(-page.bytes());
        releases.execute(page::release);
    }

    private void dropAll() {
        for (WaitingPage each = queue.poll(); each != null; each = queue.poll()) {
            finish(each);
        }
    }

    private void finish(WaitingPage page) {
        page.release();
        unwritten.remove(page);
        counters.queuedBytes.addAndGet(-page.bytes());
    }

    /**
     * Erases all that a tenant has.
     *
     * @return whether its key is gone from the disk: never after the end
     */
    CompletableFuture<Boolean> erase(TenantId tenant) {
        Erasure erasure = new Erasure(tenant, new CompletableFuture<>());
        erasures.add(erasure);
        // Checked last: the end before it has not seen the erasure, perhaps.
        if (ended) {
            refuseErasures();
        }
        return erasure.done();
    }

    private void refuseErasures() {
        for (Erasure each = erasures.poll(); each != null; each = erasures.poll()) {
            each.done().complete(false);
        }
    }

    private void eraseAll() {
        for (Erasure each = erasures.poll(); each != null; each = erasures.poll()) {
            each.done().complete(tryErase(each.tenant()));
        }
    }

    private boolean tryErase(TenantId tenant) {
        TenantKeys keys = volume.keys;
        return keys != null && volume.isRecovered() && call(() -> erase(tenant, keys));
    }

    private void erase(TenantId tenant, TenantKeys keys) {
        // Each step is a call of its own: many of them are no hang.
        int unread = segments.erase(tenant, keys,
                () -> writingSince = nanoClock.getAsLong() | 1);
        counters.errors.add(unread);
    }

    /** Recovers the volume, and writes until the end: the work of the thread. */
    void run() {
        recover();
        try {
            while (!closing || (!queue.isEmpty() && isBefore(lastWriteNanos))) {
                eraseAll();
                WaitingPage next = queue.poll(POLL_MILLIS);
                if (next != null) {
                    write(next);
                }
                if (breaker.tryProbe()) {
                    boolean _ = call(segments::probe);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        eraseAll();
        if (volume.isRecovered()) {
            boolean _ = call(() -> segments.seal(() -> !isBefore(lastZeroNanos)));
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

    private void write(WaitingPage page) {
        try {
            NotKept reason = areStopped() ? NotKept.BROKEN : tryWrite(page);
            if (reason == null) {
                counters.writtenPages.increment();
            } else {
                counters.count(reason);
            }
        } finally {
            finish(page);
        }
    }

    private @Nullable NotKept tryWrite(WaitingPage page) {
        @Nullable
        NotKept[] refusal = {NotKept.OVERTAKEN};
        boolean _ = call(() -> refusal[0] = segments.write(page.offered()));
        return refusal[0];
    }

    /** Runs a call that writes; false if it failed. */
    private boolean call(Runnable call) {
        writingSince = nanoClock.getAsLong() | 1;
        try {
            call.run();
            say(breaker.succeeded(), "");
            return true;
        } catch (OsException e) {
            counters.errors.increment();
            say(breaker.failed(), String.valueOf(e.getMessage()));
            return false;
        } catch (RuntimeException | Error e) {
            // Without its thread, nothing would ever be written again.
            counters.errors.increment();
            LOG.error("{}: a page could not be written", path, e);
            say(breaker.failed(), String.valueOf(e.getMessage()));
            return false;
        } finally {
            writingSince = 0;
        }
    }

    /** Stops writes while one hangs. Called a few times a second. */
    void watch(long now) {
        long since = writingSince;
        if (since != 0 && since != hungSince && now - since > PATIENCE * hangsNanos) {
            hungSince = since;
            counters.hangs.increment();
            say(breaker.hung(), "a write has taken more than "
                    + PATIENCE * hangsNanos / 1_000_000 + " ms");
        }
    }

    private void say(Change change, String reason) {
        switch (change) {
            case OPENED ->
                LOG.error("{}: nothing is written to the disk for now: {}", path, reason);
            case CLOSED -> LOG.info("{}: the disk is written again", path);
            case NONE -> {
            }
        }
    }

    /** Begins the end, which shall not take longer than so: see {@link #run}. */
    void end(Duration patience) {
        long begun = System.nanoTime();
        lastWriteNanos = begun + (long) (END_WRITES * patience.toNanos());
        lastZeroNanos = begun + (long) (END_ZEROS * patience.toNanos());
        closing = true;
    }

    /** Drops what the end has not written, and refuses what it has not erased. */
    void ended() {
        ended = true;
        dropAll();
        refuseErasures();
    }

    /** Frees its memory, once the thread has ended. */
    void free() {
        segments.close();
    }
}
