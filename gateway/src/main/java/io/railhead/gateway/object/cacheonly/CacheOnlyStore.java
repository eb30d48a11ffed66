package io.railhead.gateway.object.cacheonly;

import io.railhead.backend.Backend;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.request.CacheOnlyBackends;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Map;
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
    /** Buckets that each store had when it answered last; guarded by this. */
    private final Map<String, Set<String>> found = new HashMap<>();
    private volatile Set<String> refused = Set.of();
    private volatile Predicate<ObjectId> isRouted = _ -> true;
    private long lastCheck;

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
     * Begins a check of stores. Earlier checks change nothing any more. What a store had before
     * stays refused until it answers.
     *
     * @return the number of the check
     */
    public synchronized long beginCheck(Set<String> stores) {
        found.keySet().retainAll(stores);
        refuse();
        return ++lastCheck;
    }

    /**
     * Refuses requests for these buckets, since a store has them, and drops what was put there.
     * Replaces what the store had before. Looks at each object, so not for event loops.
     *
     * @param check of {@link #beginCheck}; ignored unless it is the last one
     */
    public void refuse(long check, String store, Set<String> buckets) {
        synchronized (this) {
            if (check != lastCheck) {
                return;
            }
            found.put(store, Set.copyOf(buckets));
            refuse();
        }
        if (!buckets.isEmpty()) {
            cache.cacheOnly().deleteAll(id -> buckets.contains(id.bucket()));
        }
    }

    private void refuse() {
        Set<String> all = new HashSet<>();
        found.values().forEach(all::addAll);
        refused = Set.copyOf(all);
    }

    /**
     * Drops the objects that no rule makes cache-only any more. Looks at each object, so not for
     * event loops.
     *
     * @param isCacheOnly returns whether the rules in force now make an object cache-only
     */
    public void keepOnly(Predicate<ObjectId> isCacheOnly) {
        isRouted = isCacheOnly;
        cache.cacheOnly().deleteAll(isCacheOnly.negate());
    }

    /**
     * Returns whether an object that was just put may stay. A refusal, or other rules, may have
     * dropped the bucket's objects before this one was there.
     */
    boolean mayStay(ObjectId id) {
        return !refused.contains(id.bucket()) && isRouted.test(id);
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
