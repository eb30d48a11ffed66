package io.railhead.cache;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

/**
 * The time of each bucket's last change by a request that does not name the changed keys. Buckets
 * share striped times: a neighbour's change only costs a revalidation. Any thread; lookups allocate
 * nothing.
 */
final class BucketWrites {
    private static final int STRIPES = 1 << 10;

    private final AtomicLongArray moments = new AtomicLongArray(STRIPES);
    private final LongSupplier nanoClock;

    BucketWrites(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        long before = nanoClock.getAsLong() - 1;
        for (int i = 0; i < STRIPES; i++) {
            moments.set(i, before);
        }
    }

    /**
     * Records that everything in the bucket may have changed, or may change within {@code doubt}.
     */
    void changed(String backend, String bucket, Duration doubt) {
        // The later of two concurrent times stays, whichever is written first.
        moments.accumulateAndGet(stripe(backend, bucket),
                nanoClock.getAsLong() + doubt.toNanos(),
                (before, now) -> now - before > 0 ? now : before);
    }

    /** Returns whether knowledge of an object is newer than the bucket's last such change. */
    boolean holds(ObjectId id, long learntAtNanos) {
        return learntAtNanos - moments.get(stripe(id.backend(), id.bucket())) > 0;
    }

    private static int stripe(String backend, String bucket) {
        return ((backend.hashCode() * 31 + bucket.hashCode()) * 0x9E3779B9) >>> 22;
    }
}
