package io.railhead.gateway.object.cacheonly;

import io.railhead.cache.CacheOnlyObjects;
import io.railhead.cache.ObjectId;
import io.railhead.cache.RemovalQueue;
import io.railhead.cache.Removals;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.Route;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * One caller's view of the cache-only objects of one bucket, for requests that name many keys. Each
 * key is held against the policy first: a key that the caller may not read is absent for it. No
 * call but {@link #tryLease} blocks or waits, and none asks a store; each allocates two small
 * objects a key. Any thread.
 *
 * <p> A view is for one request: rules and policies may change afterwards.
 */
public final class CacheOnlyKeys {
    private final CacheOnlyObjects objects;
    private final AccessControl access;
    private final RequestSource asker;
    private final String namespace;
    private final String bucket;

    /**
     * @param route the route of a request for any object of the bucket, whose rule must have
     *            {@code durability: none}: see {@code Rule.isCacheOnly}
     * @param asker the caller, with its address and session, as policies look at them
     */
    public CacheOnlyKeys(CacheOnlyObjects objects, AccessControl access, RequestSource asker,
            Route route, String bucket) {
        if (!route.rule().isCacheOnly()) {
            throw new IllegalArgumentException("the rule of the bucket is not durability: none");
        }
        this.objects = objects;
        this.access = access;
        this.asker = asker;
        this.namespace = route.namespace();
        this.bucket = bucket;
    }

    /** Returns the id of a key, with which the cache finds metadata and pages. */
    public ObjectId id(String key) {
        return new ObjectId(CacheOnlyObjects.BACKEND, namespace, bucket, key, null);
    }

    /** Returns whether the caller may read the key, there or not. */
    public boolean mayRead(String key) {
        return access.allows(asker, AccessControl.reading(bucket, key));
    }

    /** Returns whether there is such an object that the caller may read. */
    public boolean exists(String key) {
        return mayRead(key) && objects.contains(id(key));
    }

    /** Returns how many keys at the beginning of the list exist. */
    public int leading(List<String> keys) {
        for (int i = 0; i < keys.size(); i++) {
            if (!exists(keys.get(i))) {
                return i;
            }
        }
        return keys.size();
    }

    /**
     * Keeps an object from being evicted for room for so long, at most until its rule's
     * {@code ttl}. One that is on disk is brought into memory first, unless its tenant has leased
     * too much already. That may wait for the disk: then not for event loops ({@link #mayWait}).
     *
     * @param time at most {@link CacheOnlyObjects#MAX_LEASE}
     * @return false if there is none that the caller may read, or its tenant has leased too much
     */
    public boolean tryLease(String key, Duration time) {
        if (!mayRead(key)) {
            return false;
        }
        ObjectId id = id(key);
        if (objects.mustRaiseToLease(id)) {
            // The outcome does not matter: an object that is not in memory gets no lease.
            CacheOnlyObjects.Raised _ = objects.raise(id).toCompletableFuture().join();
        }
        return objects.tryLease(id, time);
    }

    /** Returns whether a lease may wait for a disk. */
    public boolean mayWait() {
        return objects.mayUseDisk();
    }

    /** Counts a read of an object; false if there is none that the caller may read. */
    public boolean touch(String key) {
        return mayRead(key) && objects.find(id(key)) != null;
    }

    /**
     * Deletes an object. From the return on nobody finds it; readers that have its pages read on.
     *
     * @return false if there was none
     * @throws S3Refusal {@code AccessDenied} if the policy does not let the caller delete the key
     */
    public boolean delete(String key) {
        if (!mayDelete(key)) {
            throw new S3Refusal(S3Error.ACCESS_DENIED,
                    "The gateway's policy does not allow to delete this key.");
        }
        return objects.delete(id(key));
    }

    /**
     * Deletes objects whose keys begin with a prefix and that the caller may delete, in S3's order.
     * May look at every key of the prefix, so not for event loops.
     *
     * @param most the most that are deleted, from 1
     * @param isOver returns whether nobody waits for it any more; then it stops early
     * @return the number of objects that were found and are gone; 0 only if the caller may delete
     *         none that was there
     */
    public int deletePrefix(String prefix, int most, BooleanSupplier isOver) {
        ScanPace pace = new ScanPace(isOver);
        List<String> keys = new ArrayList<>();
        objects.visit(namespace, bucket, prefix, held -> {
            String key = held.version().object().key();
            boolean begins = key.startsWith(prefix);
            if (begins && mayDelete(key)) {
                keys.add(key);
            }
            return begins && keys.size() < most && pace.goesOn();
        });
        // One that another caller deletes first is gone, too, and counts.
        keys.forEach(key -> objects.delete(id(key)));
        return keys.size();
    }

    /**
     * Begins a subscription to removals of objects whose keys begin with a prefix, those among them
     * that the caller may not read: see {@link #mayRead}.
     *
     * @param listener runs under locks of the cache: it may only hand over to another thread
     * @throws S3Refusal {@code SlowDown} if the tenant has too many of the bucket
     */
    public RemovalQueue subscribe(String prefix, int mostKeys, Runnable listener) {
        RemovalQueue queue = objects.removals()
                .trySubscribe(namespace, bucket, prefix, mostKeys, listener);
        if (queue == null) {
            throw new S3Refusal(S3Error.SLOW_DOWN, "A tenant has at most "
                    + Removals.MAX_OF_BUCKET + " subscriptions to removals of one bucket.");
        }
        return queue;
    }

    /**
     * Returns what the objects take that the caller may read and whose keys begin with a prefix.
     * Looks at every key of the prefix, so not for event loops.
     *
     * @param isOver returns whether nobody waits for it any more; then it stops early
     */
    public CacheOnlyObjects.Usage usage(String prefix, BooleanSupplier isOver) {
        ScanPace pace = new ScanPace(isOver);
        return objects.usage(asker.tenant(), namespace, bucket, prefix, this::mayRead,
                pace::goesOn);
    }

    private boolean mayDelete(String key) {
        return access.allowsDeletion(asker, bucket, new AccessControl.Deletion(key, null));
    }
}
