package io.railhead.cache;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The writes through this gateway, so that knowledge from before a write is neither cached nor
 * served after it. Any thread; lookups allocate nothing while no write is open.
 *
 * <p> Each key has a write epoch, raised at a write's begin and end. A key is the same in every
 * namespace: the store may show one object to several accounts. Keys share striped counters: a
 * neighbour's write only costs a missed indexing. Open writes are counted exactly. Each bucket has
 * the time of its last change by a request that does not name the changed keys. Buckets share
 * striped times: a neighbour's change only costs a revalidation.
 */
public final class Writes {
    /** The result of {@link Write#end} if another write touched the key too. */
    public static final long DISTURBED = -1;

    static final int KEY_STRIPES = 1 << 14;
    private static final int BUCKET_STRIPES = 1 << 10;

    private final AtomicLongArray epochs = new AtomicLongArray(KEY_STRIPES);
    private final ConcurrentMap<Name, Integer> open = new ConcurrentHashMap<>();
    private final AtomicLongArray bucketChanges = new AtomicLongArray(BUCKET_STRIPES);
    private final LongSupplier nanoClock;
    private final Duration doubt;
    private final Consumer<Runnable> afterDoubt;
    private final Consumer<ObjectId> evict;
    private final Peers peers;

    private record Name(String backend, String bucket, String key) {
        static Name of(ObjectId id) {
            return new Name(id.backend(), id.bucket(), id.key());
        }
    }

    /** An open write; exactly one call of {@link #end} must follow. */
    public interface Write {

        /**
         * Ends the write.
         *
         * @return the key's current write epoch if the write is done and no other write touched the
         *         key's stripe since the begin; {@link #DISTURBED} otherwise
         */
        long end(WriteOutcome outcome);

        /**
         * Returns the stage that completes when no gateway of this cache serves what was before the
         * write; asked after the end. Until then the client must not learn of it. Never fails.
         */
        CompletionStage<Void> heard();
    }

    /**
     * Knows of no write yet.
     *
     * @param doubt the time in which a store that did not respond may still perform a write
     * @param afterDoubt runs a task once that time has passed
     * @param evict evicts an object under every account
     * @param peers are told of each write that may have happened
     */
    Writes(LongSupplier nanoClock, Duration doubt, Consumer<Runnable> afterDoubt,
            Consumer<ObjectId> evict, Peers peers) {
        this.peers = peers;
        this.nanoClock = nanoClock;
        this.doubt = doubt;
        this.afterDoubt = afterDoubt;
        this.evict = evict;
        long before = nanoClock.getAsLong() - 1;
        for (int i = 0; i < BUCKET_STRIPES; i++) {
            bucketChanges.set(i, before);
        }
    }

    /**
     * Returns the key's current write epoch: read when a request is sent, and passed back with its
     * result.
     */
    public long epoch(ObjectId id) {
        return epochs.get(stripe(id));
    }

    /** Returns whether a write of this key is, or may be, under way. */
    public boolean isOpen(ObjectId id) {
        // Each hit asks this, so the usual case allocates nothing.
        return !open.isEmpty() && open.containsKey(Name.of(id));
    }

    /** Returns whether no write of the key has happened since that epoch, and none is open. */
    boolean isCurrent(ObjectId id, long epoch) {
        return epoch(id) == epoch && !isOpen(id);
    }

    /**
     * Returns whether no write has touched the object since it was learnt, as far as all gateways
     * of this cache know; otherwise it is served as {@code strong}.
     */
    public boolean isSettled(ObjectMetadata held) {
        ObjectId id = held.version().object();
        return !isOpen(id) && isBucketUnchanged(id, held.learntAtNanos())
                && peers.vouchFor(held.learntAtNanos());
    }

    /**
     * Returns whether no write has touched the key or its bucket since, or may still do so.
     * Otherwise the store's earlier response may be outdated.
     *
     * @param epoch the key's write epoch at that time
     */
    public boolean isUntouchedSince(ObjectId id, long atNanos, long epoch) {
        return isCurrent(id, epoch) && isBucketUnchanged(id, atNanos) && peers.vouchFor(atNanos);
    }

    private boolean isBucketUnchanged(ObjectId id, long sinceNanos) {
        return sinceNanos - bucketChanges.get(stripe(id.backend(), id.bucket())) > 0;
    }

    /**
     * Starts a write that is about to be forwarded. The key's write epoch is raised, and the cached
     * object is not settled until the write's end. The object is evicted once the write may have
     * happened.
     */
    public Write begin(ObjectId id) {
        return new OpenWrite(id, open(id));
    }

    /** Opens a write; returns the key's write epoch. */
    private long open(ObjectId id) {
        open.merge(Name.of(id), 1, Integer::sum);
        return raise(id);
    }

    /** Applies the end of another gateway's write, or news of one. The others know of it. */
    void heard(Change.OfKey change) {
        ObjectId id = change.id();
        end(id, open(id), change.outcome());
    }

    /** Applies the end of another gateway's write of unknown keys. */
    void heard(Change.OfBucket change) {
        changed(change.backend(), change.bucket(), change.outcome());
    }

    private final class OpenWrite implements Write {
        private final ObjectId id;
        private final long begun;
        private final AtomicBoolean ended = new AtomicBoolean();
        private volatile CompletionStage<Void> heard = Peers.NOBODY;

        OpenWrite(ObjectId id, long begun) {
            this.id = id;
            this.begun = begun;
        }

        @Override
        public long end(WriteOutcome outcome) {
            if (!ended.compareAndSet(false, true)) {
                throw new IllegalStateException("a write ends once");
            }
            long epoch = Writes.this.end(id, begun, outcome);
            if (outcome != WriteOutcome.REFUSED) {
                heard = peers.tell(Change.OfKey.of(id, outcome));
            }
            return epoch;
        }

        @Override
        public CompletionStage<Void> heard() {
            return heard;
        }
    }

    /** Raises the key's write epoch; returns the new one. */
    long raise(ObjectId id) {
        return epochs.incrementAndGet(stripe(id));
    }

    private long end(ObjectId id, long begun, WriteOutcome outcome) {
        long now = raise(id);
        switch (outcome) {
            case DONE -> {
                evict.accept(id);
                close(id);
            }
            case UNKNOWN -> {
                evict.accept(id);
                // The store may still perform the write, even after requests that are sent now.
                afterDoubt.accept(() -> {
                    raise(id);
                    close(id);
                });
            }
            // Nothing was written, and nothing was cached while the write was open.
            case REFUSED -> close(id);
        }
        return outcome == WriteOutcome.DONE && now == begun + 1 && isCurrent(id, now)
                ? now
                : DISTURBED;
    }

    private void close(ObjectId id) {
        open.computeIfPresent(Name.of(id), (key, count) -> count == 1 ? null : count - 1);
    }

    /**
     * Ends a write of unknown keys of a bucket. All its objects are revalidated before they are
     * served, and repeatedly while the write may still happen.
     *
     * @return completes when no gateway of this cache serves what was before the write
     */
    public CompletionStage<Void> endInBucket(String backend, String bucket, WriteOutcome outcome) {
        changed(backend, bucket, outcome);
        return outcome == WriteOutcome.REFUSED
                ? Peers.NOBODY
                : peers.tell(new Change.OfBucket(backend, bucket, outcome));
    }

    private void changed(String backend, String bucket, WriteOutcome outcome) {
        switch (outcome) {
            case DONE -> changed(backend, bucket, Duration.ZERO);
            case UNKNOWN -> changed(backend, bucket, doubt);
            case REFUSED -> {
                // Nothing was written.
            }
        }
    }

    private void changed(String backend, String bucket, Duration within) {
        // The later of two concurrent times stays, whichever is written first.
        bucketChanges.accumulateAndGet(stripe(backend, bucket),
                nanoClock.getAsLong() + within.toNanos(),
                (before, now) -> now - before > 0 ? now : before);
    }

    /** Returns the number of the key's stripe: the same in every namespace. */
    static int stripe(ObjectId id) {
        int hash = (id.backend().hashCode() * 31 + id.bucket().hashCode()) * 31
                + id.key().hashCode();
        return (hash * 0x9E3779B9) >>> 18;
    }

    private static int stripe(String backend, String bucket) {
        return ((backend.hashCode() * 31 + bucket.hashCode()) * 0x9E3779B9) >>> 22;
    }
}
