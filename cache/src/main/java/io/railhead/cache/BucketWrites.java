package io.railhead.cache;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

/**
 * The time of each bucket's last change by a request that does not name the changed keys. Buckets
 * share striped moments: a neighbour's change only costs a question to the store. Any thread;
 * looking makes nothing.
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

    /** Everything in the bucket may have changed just now, or may until so much later. */
    void changed(String backend, String bucket, Duration doubt) {
        // Of two at a time the later one stays, whichever is written first.
        moments.accumulateAndGet(stripe(backend, bucket),
                nanoClock.getAsLong() + doubt.toNanos(),
                (before, now) -> now - before > 0 ? now : before);
    }

    /** Whether what was learnt then of this object is newer than the last such change. */
    boolean holds(ObjectId id, long learntAtNanos) {
        return learntAtNanos - moments.get(stripe(id.backend(), id.bucket())) > 0;
    }

    private static int stripe(String backend, String bucket) {
        return ((backend.hashCode() * 31 + bucket.hashCode()) * 0x9E3779B9) >>> 22;
    }
}
