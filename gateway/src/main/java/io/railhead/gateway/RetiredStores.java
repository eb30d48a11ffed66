package io.railhead.gateway;

import io.railhead.backend.Backend;
import io.railhead.backend.aws.AwsBackend;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores that are no longer configured. Requests, fills, uploads and warming keep the backend that
 * they were routed to, on many threads. A store is closed when the garbage collector finds that
 * backend unreachable: reference counts would cost every request.
 *
 * <p> A heap with little use is collected rarely. A collection is then requested, less and less
 * often, and one for all stores, since it stops every thread. Any thread.
 */
final class RetiredStores implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RetiredStores.class);
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final Duration FIRST_COLLECTION = Duration.ofSeconds(30);

    private final ReferenceQueue<Object> unused = new ReferenceQueue<>();
    private final Set<Retired> retired = ConcurrentHashMap.newKeySet();
    private final Runnable collect;
    private final Duration firstCollection;
    private @Nullable Thread watcher;

    RetiredStores() {
        this(System::gc, FIRST_COLLECTION);
    }

    /**
     * @param firstCollection how long to wait before a collection is requested; doubles after each
     *            vain one
     */
    RetiredStores(Runnable collect, Duration firstCollection) {
        this.collect = collect;
        this.firstCollection = firstCollection;
    }

    /**
     * A store to close.
     *
     * @param isIdle whether no request is under way
     */
    record Store(String name, BooleanSupplier isIdle, Runnable close) {}

    /** Refers to the store, but not to the backend that requests hold. */
    private static final class Retired extends PhantomReference<Object> {
        private final Store store;

        Retired(Object routed, Store store, ReferenceQueue<Object> unused) {
            super(routed, unused);
            this.store = store;
        }
    }

    /**
     * Closes a store when its backend is unreachable.
     *
     * @param routed the backend that requests hold
     */
    void add(Backend routed, AwsBackend store) {
        add(routed, new Store(store.name(), store::isIdle, store::close));
    }

    synchronized void add(Object routed, Store store) {
        retired.add(new Retired(routed, store, unused));
        if (watcher == null) {
            watcher = Thread.ofVirtual().name("retired-stores").start(this::watch);
        }
    }

    private void watch() {
        List<Retired> found = new ArrayList<>();
        Duration patience = firstCollection;
        long since = System.nanoTime();
        try {
            while (true) {
                Duration wait = found.isEmpty() || patience.compareTo(LOOK) < 0 ? patience : LOOK;
                if (unused.remove(wait.toMillis()) instanceof Retired next) {
                    found.add(next);
                    patience = firstCollection;
                    since = System.nanoTime();
                } else if (retired.size() == found.size()) {
                    // All retired stores are unreachable and only wait to be idle: another
                    // collection finds no more.
                    since = System.nanoTime();
                } else if (System.nanoTime() - since >= patience.toNanos()) {
                    collect.run();
                    patience = patience.multipliedBy(2);
                    since = System.nanoTime();
                }
                endIdle(found);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Closes idle stores, which waits for their connections to end. */
    private void endIdle(List<Retired> found) {
        for (Iterator<Retired> each = found.iterator(); each.hasNext();) {
            Retired one = each.next();
            if (one.store.isIdle().getAsBoolean()) {
                each.remove();
                Thread.ofVirtual()
                        .name("retired-store-" + one.store.name())
                        .start(() -> end(one));
            }
        }
    }

    private void end(Retired found) {
        if (retired.remove(found)) {
            found.store.close().run();
            LOG.info("backend {}: closed, since no request uses it any more", found.store.name());
        }
    }

    /** Closes all stores, even ones in use. */
    @Override
    public synchronized void close() {
        if (watcher != null) {
            watcher.interrupt();
        }
        retired.forEach(this::end);
    }
}
