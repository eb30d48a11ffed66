package io.railhead.cache.disk;

import io.railhead.cache.disk.Tombstones.Tombstone;
import io.railhead.os.OsException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that makes a volume's evictions by name survive a crash. Those that come together are
 * written together. If the disk fails, all of them are written anew as soon as that works.
 *
 * <p> The list is bounded. Evictions are dropped from it once no page can meet them any more. If it
 * is full nevertheless, the older half becomes one eviction of everything that was written before.
 */
final class EvictionLog {
    private static final Logger LOG = LoggerFactory.getLogger(EvictionLog.class);
    /** Between two writes, so that a stream of overwritten objects does not wear out the disk. */
    private static final long PAUSE_MILLIS = 100;
    private static final long RETRY_MILLIS = 1000;
    /** A page may be between its offer and the queue: far longer than that takes. */
    private static final long KEPT_NANOS = Duration.ofSeconds(60).toNanos();

    private final String path;
    private final DiskVolume volume;
    private final LongSupplier oldestOffer;
    private final LongSupplier nanoClock;
    private final LinkedBlockingQueue<Pending> queue = new LinkedBlockingQueue<>();
    /** True while the list on disk lacks evictions, or has some that were replaced. */
    private volatile boolean stale;
    private volatile boolean ended;

    record Pending(Tombstone tombstone, CompletableFuture<Boolean> done) {}

    /**
     * @param oldestOffer returns the number of the last eviction when the oldest waiting page came
     */
    EvictionLog(String path, DiskVolume volume, LongSupplier oldestOffer,
            LongSupplier nanoClock) {
        this.path = path;
        this.volume = volume;
        this.oldestOffer = oldestOffer;
        this.nanoClock = nanoClock;
    }

    /**
     * Evicts by name: on its return no page is found that the eviction covers.
     *
     * @return whether the eviction survives a crash, once that is known
     */
    CompletableFuture<Boolean> add(EvictedNames names) {
        if (volume.tombstones.size() >= TombstoneFile.MOST_RECORDS) {
            shorten();
        }
        Pending pending = new Pending(volume.evict(names), new CompletableFuture<>());
        queue.add(pending);
        // Checked last: the end before it has not seen the eviction, perhaps.
        if (ended) {
            refuse();
        }
        return pending.done();
    }

    /** Answers evictions that were not written, once the thread has ended or given up. */
    void ended() {
        ended = true;
        refuse();
    }

    private void refuse() {
        for (Pending each = queue.poll(); each != null; each = queue.poll()) {
            each.done().complete(false);
        }
    }

    /** Evicts everything from a volume that is not written yet. */
    void addEverything() {
        queue.add(new Pending(volume.tombstones.addEverything(), new CompletableFuture<>()));
    }

    private synchronized void shorten() {
        forget();
        stale = true;
        if (volume.tombstones.size() >= TombstoneFile.MOST_RECORDS) {
            LOG.warn("{}: too many objects were evicted to remember each: all pages are dropped"
                    + " that were written before the older half of the evictions", path);
            Tombstone _ = volume.tombstones.widen();
        }
    }

    private void forget() {
        Tombstones tombstones = volume.tombstones;
        long offered = oldestOffer.getAsLong();
        tombstones.forget(Math.min(volume.lowestStamp(tombstones.everything()), offered),
                Math.min(volume.lowestStamp(0), offered), nanoClock.getAsLong() - KEPT_NANOS);
    }

    /** Writes until it is told to stop, and all is written or the disk fails. */
    void run(BooleanSupplier stop) throws InterruptedException {
        while (!stop.getAsBoolean() || !queue.isEmpty()) {
            Pending first = queue.poll(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
            if (first != null || stale) {
                write(first);
                if (!stop.getAsBoolean()) {
                    TimeUnit.MILLISECONDS.sleep(stale ? RETRY_MILLIS : PAUSE_MILLIS);
                }
            }
        }
    }

    /** Writes what waits; the writing thread only. */
    void write(@Nullable Pending first) {
        List<Pending> batch = new ArrayList<>();
        if (first != null) {
            batch.add(first);
        }
        queue.drainTo(batch);
        boolean written = false;
        try {
            write(batch.stream().map(Pending::tombstone).toList());
            written = true;
        } catch (OsException e) {
            LOG.error("{}: evictions could not be written, and are tried again: {}", path,
                    e.getMessage());
        } catch (RuntimeException | Error e) {
            LOG.error("{}: evictions could not be written, and are tried again", path, e);
        } finally {
            if (!written) {
                stale = true;
            }
            for (Pending each : batch) {
                each.done().complete(written);
            }
        }
    }

    private void write(List<Tombstone> batch) {
        TombstoneFile file = volume.tombstoneFile;
        if (!stale && file.hasRoom(batch.size())) {
            file.append(batch);
            return;
        }
        forget();
        stale = false;
        file.replace(volume.tombstones.all());
    }
}
