package io.railhead.cache;

import io.railhead.cache.CacheOnlyObject.Place;
import io.railhead.cache.CacheOnlyObject.Where;
import io.railhead.cache.CacheOnlyObjects.Raised;
import io.railhead.cache.memory.Page;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The moves of cache-only objects between memory and the disk. An object that leaves memory may be
 * called back until the disk has all of it. Any thread; no call waits for a disk.
 *
 * <p> Each move is made under the index's lock of the key ({@link CacheOnlyObjects#tryMove}), and
 * only from the very place in which the object was seen. So an object that came back meanwhile is
 * neither dropped nor freed. Memory of objects that leave counts in no share, so it has a bound of
 * its own here.
 */
final class CacheOnlyMoves {
    private static final Logger LOG = LoggerFactory.getLogger(CacheOnlyMoves.class);
    /** The most objects on disk that one sweep looks at. */
    private static final int LOOKS = 10_000;
    /**
     * The most memory of objects that leave, in queues of the disk: one that waits for the disk,
     * and one that it has just written.
     */
    private static final int QUEUES = 2;

    private final CacheOnlyObjects objects;
    private final CacheOnlyDisk disk;
    private final TenantPartitions partitions;
    private final Executor ending;
    private final ConcurrentMap<CacheOnlyObject, CompletableFuture<Raised>> raising = new ConcurrentHashMap<>();
    private final AtomicLong leavingBytes = new AtomicLong();
    private final LongAdder demoted = new LongAdder();
    private final LongAdder promoted = new LongAdder();
    private final LongAdder lost = new LongAdder();

    /**
     * The counters since the start, and the objects now.
     *
     * @param onDisk objects whose bytes are on disk alone
     * @param leavingBytes memory of objects that the disk is taking, counted in slots
     */
    record Stats(long onDisk, long leavingBytes, long demoted, long promoted, long lost) {
        static final Stats NONE = new Stats(0, 0, 0, 0, 0);
    }

    /** @param ending runs the ends of moves to the disk, which cost a hash for each page */
    CacheOnlyMoves(CacheOnlyObjects objects, CacheOnlyDisk disk, TenantPartitions partitions,
            Executor ending) {
        this.objects = objects;
        this.disk = disk;
        this.partitions = partitions;
        this.ending = ending;
    }

    Stats stats() {
        return new Stats(
                Arrays.stream(partitions.all()).mapToLong(each -> each.onDisk().count()).sum(),
                leavingBytes.get(), demoted.sum(), promoted.sum(), lost.sum());
    }

    /** Returns whether memory or the disk has it. An object that the disk has lost is gone. */
    boolean isHere(CacheOnlyObject object) {
        Where seen = object.where();
        if (seen.place() != Place.DISK || disk.mayHold(object.metadata().version())) {
            return true;
        }
        lose(object, seen);
        // It may have come back to memory meanwhile.
        return object.isInMemory();
    }

    /** Ends an object that the disk has dropped; one on a disk that is left alone stays. */
    private void loseIfDropped(CacheOnlyObject object) {
        Where seen = object.where();
        if (seen.place() == Place.DISK && !disk.has(object.metadata().version())) {
            lose(object, seen);
        }
    }

    private void lose(CacheOnlyObject object, Where seen) {
        if (objects.removeFrom(object, seen, EvictionCause.PRESSURE)) {
            lost.increment();
        }
    }

    /** Finds objects that the disk has lost, some at each call, so that their end is told. */
    void lookAtDisk() {
        for (TenantPartition partition : partitions.all()) {
            partition.onDisk()
                    .next(LOOKS / partitions.all().length)
                    .forEach(this::loseIfDropped);
        }
    }

    /**
     * Evicts an object from memory: to the disk, which frees its memory once it has all bytes, or
     * for good if the disk does not take it.
     *
     * @return whether its memory is in use until the disk has written it
     */
    boolean evict(CacheOnlyObject object, EvictionCause cause) {
        Where last = object.where();
        Where departure = departure(object, cause);
        if (departure != null) {
            if (disk.tryOffer(object, departure.pages(), objects::isCurrent,
                    () -> ending.execute(() -> arrived(object, departure)))) {
                return true;
            }
            last = departure;
        }
        // An object that was called back meanwhile stays.
        boolean _ = objects.dropFrom(object, last, cause);
        return false;
    }

    /** Takes an object out of its share of memory; null if it is not there, or has no room. */
    private @Nullable Where departure(CacheOnlyObject object, EvictionCause cause) {
        if (leavingBytes.addAndGet(object.slotBytes()) > QUEUES * disk.queueBytes()) {
            leavingBytes.addAndGet(-object.slotBytes());
            return null;
        }
        Where[] departure = new Where[1];
        boolean left = objects.tryMove(object, () -> {
            if (!object.isInShare()) {
                return false;
            }
            departure[0] = object.leave();
            objects.leaveShare(object, cause);
            return true;
        });
        if (!left) {
            leavingBytes.addAndGet(-object.slotBytes());
        }
        return departure[0];
    }

    /** Ends the way of an object to the disk, which has let go of its memory. */
    private void arrived(CacheOnlyObject object, Where departure) {
        if (object.where() != departure) {
            return;
        }
        if (!disk.holds(object.metadata().version())) {
            boolean _ = objects.dropFrom(object, departure, EvictionCause.PRESSURE);
            return;
        }
        boolean isOnDisk = objects.tryMove(object, () -> {
            boolean still = object.where() == departure;
            if (still) {
                object.arrive();
                object.partition().onDisk().add(object);
            }
            return still;
        });
        if (isOnDisk) {
            leavingBytes.addAndGet(-object.slotBytes());
            demoted.increment();
            departure.pages().forEach(Page::condemn);
        }
    }

    /** Ends what is kept of an object that is gone. */
    void ended(CacheOnlyObject object, Place last) {
        if (last == Place.LEAVING) {
            leavingBytes.addAndGet(-object.slotBytes());
        } else if (last == Place.DISK) {
            object.partition().onDisk().remove(object);
        }
    }

    /** Brings an object into memory that is not: see {@link CacheOnlyObjects#raise}. */
    CompletionStage<Raised> raise(CacheOnlyObject object) {
        Raised called = object.where().place() == Place.LEAVING
                ? calledBack(object)
                : Raised.SETTLED;
        return called == Raised.SETTLED && object.isOnDisk()
                ? read(object)
                : CompletableFuture.completedStage(called);
    }

    /** Returns an object to its share of memory, unless the disk has all of it by now. */
    private Raised calledBack(CacheOnlyObject object) {
        if (!objects.tryReserve(object)) {
            return Raised.NO_ROOM;
        }
        boolean isBack = objects.tryMove(object, () -> {
            boolean leaves = object.where().place() == Place.LEAVING;
            if (leaves) {
                object.comeBack(object.pages());
                objects.join(object);
            }
            return leaves;
        });
        if (isBack) {
            leavingBytes.addAndGet(-object.slotBytes());
        } else {
            partitions.release(object.partition(), object.slotBytes());
        }
        return Raised.SETTLED;
    }

    private CompletionStage<Raised> read(CacheOnlyObject object) {
        CompletableFuture<Raised> mine = new CompletableFuture<>();
        CompletableFuture<Raised> other = raising.putIfAbsent(object, mine);
        if (other != null) {
            return other;
        }
        try {
            if (!disk.tryRead(object.metadata().version(), object.tenant(),
                    bytes -> settle(mine, object, bytes))) {
                end(mine, object, Raised.NO_ROOM);
            }
        } catch (RuntimeException | Error e) {
            LOG.error("A cache-only object could not be read from disk", e);
            end(mine, object, Raised.NO_ROOM);
        }
        return mine;
    }

    private void settle(CompletableFuture<Raised> stage, CacheOnlyObject object,
            StagedUpload ownedBytes) {
        Raised outcome = Raised.NO_ROOM;
        try (ownedBytes) {
            outcome = settled(object, ownedBytes);
        } finally {
            end(stage, object, outcome);
        }
    }

    private void end(CompletableFuture<Raised> stage, CacheOnlyObject object, Raised outcome) {
        raising.remove(object, stage);
        stage.complete(outcome);
    }

    private Raised settled(CacheOnlyObject object, StagedUpload bytes) {
        if (!bytes.isWhole()) {
            Where seen = object.where();
            if (seen.place() == Place.DISK && disk.holds(object.metadata().version())) {
                return Raised.NO_ROOM;
            }
            if (seen.place() == Place.DISK) {
                lose(object, seen);
            }
            return Raised.SETTLED;
        }
        if (!objects.tryReserve(object)) {
            return Raised.NO_ROOM;
        }
        List<Page> risen = bytes.takePublished();
        boolean isBack = objects.tryMove(object, () -> {
            boolean is = object.isOnDisk();
            if (is) {
                object.partition().onDisk().remove(object);
                object.comeBack(risen);
                objects.join(object);
            }
            return is;
        });
        if (isBack) {
            promoted.increment();
        } else {
            risen.forEach(Page::condemn);
            partitions.release(object.partition(), object.slotBytes());
        }
        return Raised.SETTLED;
    }
}
