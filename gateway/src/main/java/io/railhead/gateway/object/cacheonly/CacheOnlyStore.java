package io.railhead.gateway.object.cacheonly;

import io.railhead.backend.Backend;
import io.railhead.cache.ObjectCache;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.request.CacheOnlyBackends;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * All cache-only objects as a store. Requests for them pass through the same steps as requests for
 * a store's objects, and end here. Any thread; no call blocks.
 */
public final class CacheOnlyStore implements CacheOnlyBackends {
    private final ObjectCache cache;
    private final LongSupplier nanoClock;
    private final InstantSource clock;
    private final AtomicLong etags;
    private volatile Set<String> refused = Set.of();

    /**
     * @param nanoClock the cache's clock
     * @param clock the clock of Last-Modified
     * @param firstEtag a random number, so that no ETag of an earlier run comes again
     */
    public CacheOnlyStore(ObjectCache cache, LongSupplier nanoClock, InstantSource clock,
            long firstEtag) {
        this.cache = cache;
        this.nanoClock = nanoClock;
        this.clock = clock;
        this.etags = new AtomicLong(firstEtag);
    }

    /**
     * Refuses requests for these buckets, since a store has them, and drops what was put there.
     * Replaces earlier refusals.
     */
    public void refuse(Set<String> buckets) {
        Set<String> now = Set.copyOf(buckets);
        refused = now;
        if (!now.isEmpty()) {
            cache.cacheOnly().deleteBuckets(now::contains);
        }
    }

    /** Drops the objects of buckets that no rule makes cache-only any more. */
    public void keepOnly(Predicate<String> bucket) {
        cache.cacheOnly().deleteBuckets(bucket.negate());
    }

    @Override
    public boolean isRefused(String bucket) {
        return refused.contains(bucket);
    }

    @Override
    public Backend of(String namespace, String tenant, Rule rule) {
        return new CacheOnlyBackend(this, namespace, tenant, rule);
    }

    ObjectCache cache() {
        return cache;
    }

    long nanos() {
        return nanoClock.getAsLong();
    }

    InstantSource clock() {
        return clock;
    }

    /**
     * Returns an ETag that no other put has. It is no checksum: one of all bytes would cost more
     * than their copy. A dash tells clients so.
     */
    String newEtag() {
        return "\"" + HexFormat.of().toHexDigits(etags.getAndIncrement()) + "-1\"";
    }
}
