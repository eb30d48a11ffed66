package io.railhead.cache;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The subscribers to removals of cache-only objects. A bucket without one costs a removal a look at
 * a map. Knows no rights: subscribers ask the policy for each key. Any thread.
 */
public final class Removals {
    /**
     * The most subscriptions to one bucket of a namespace, which is a tenant's. A removal visits
     * all of them under locks that tenants share.
     */
    public static final int MAX_OF_BUCKET = 64;

    private final ConcurrentMap<Scope, List<RemovalQueue>> queues = new ConcurrentHashMap<>();
    private final LongAdder subscriptions = new LongAdder();
    private final LongAdder lost = new LongAdder();

    record Scope(String namespace, String bucket) {}

    /**
     * Begins a subscription, which its owner closes. Every removal from now on is in the queue, or
     * was lost. Returns null if the bucket has {@link #MAX_OF_BUCKET} already.
     *
     * @param namespace that of the objects' ids
     * @param mostKeys the most removals that wait
     * @param listener runs after each removal, under locks of the cache: it may only hand over to
     *            another thread
     */
    public @Nullable RemovalQueue trySubscribe(String namespace, String bucket, String prefix,
            int mostKeys, Runnable listener) {
        Scope scope = new Scope(namespace, bucket);
        RemovalQueue queue = new RemovalQueue(this, scope, prefix, mostKeys, listener);
        List<RemovalQueue> ofBucket = queues.compute(scope, (_, before) -> {
            List<RemovalQueue> all = before == null ? new CopyOnWriteArrayList<>() : before;
            if (all.size() < MAX_OF_BUCKET) {
                all.add(queue);
            }
            return all;
        });
        if (!ofBucket.contains(queue)) {
            return null;
        }
        subscriptions.increment();
        return queue;
    }

    void remove(RemovalQueue queue) {
        queues.computeIfPresent(queue.scope(), (_, all) -> {
            if (all.remove(queue)) {
                subscriptions.decrement();
            }
            return all.isEmpty() ? null : all;
        });
    }

    /** Tells that an object is gone. */
    void tell(ObjectId id, Removal.Reason reason) {
        if (queues.isEmpty()) {
            return;
        }
        List<RemovalQueue> concerned = queues.get(new Scope(id.namespace(), id.bucket()));
        if (concerned != null) {
            Removal removal = new Removal(id.key(), reason);
            concerned.forEach(queue -> queue.offer(removal));
        }
    }

    void noteLost(int removals) {
        lost.add(removals);
    }

    /** Returns the subscriptions now. */
    public long subscriptions() {
        return subscriptions.sum();
    }

    /** Returns the removals that were dropped from full queues. */
    public long lost() {
        return lost.sum();
    }
}
