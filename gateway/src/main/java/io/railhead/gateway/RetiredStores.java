package io.railhead.gateway;

import io.railhead.backend.Backend;
import io.railhead.backend.aws.AwsBackend;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores that are configured no more. A request keeps the backend that it was routed to for as long
 * as it may ask it, and so do fills, uploads and warming, on many threads: what the collector finds
 * unreachable is used by none of them, and is closed. Counting would cost every request.
 */
final class RetiredStores implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RetiredStores.class);
    private static final Duration LOOK = Duration.ofSeconds(1);
    /** A heap that is used little is collected rarely: then it is asked for, ever less often. */
    private static final Duration FIRST_COLLECTION = Duration.ofSeconds(30);

    private final ReferenceQueue<Backend> unused = new ReferenceQueue<>();
    private final Set<Retired> retired = ConcurrentHashMap.newKeySet();

    /** Leads to the store, but not to what leads to it. */
    private static final class Retired extends PhantomReference<Backend> {
        private final AwsBackend store;

        Retired(Backend routed, AwsBackend store, ReferenceQueue<Backend> unused) {
            super(routed, unused);
            this.store = store;
        }
    }

    /**
     * Closes a store when nobody leads to it.
     *
     * @param routed what requests were given for it
     */
    void add(Backend routed, AwsBackend store) {
        retired.add(new Retired(routed, store, unused));
        Thread.ofVirtual().name("retired-store-" + store.name()).start(this::closeOne);
    }

    /** One of them, whichever is unused first: there are as many threads as stores. */
    private void closeOne() {
        try {
            Retired found = awaitUnused();
            while (!found.store.isIdle()) {
                Thread.sleep(LOOK);
            }
            end(found);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Retired awaitUnused() throws InterruptedException {
        Duration patience = FIRST_COLLECTION;
        while (true) {
            if (unused.remove(patience.toMillis()) instanceof Retired found) {
                return found;
            }
            System.gc();
            patience = patience.multipliedBy(2);
        }
    }

    private void end(Retired found) {
        if (retired.remove(found)) {
            found.store.close();
            LOG.info("backend {}: closed, since no request uses it any more", found.store.name());
        }
    }

    /** Closes them all, whoever uses them. */
    @Override
    public void close() {
        retired.forEach(each -> {
            end(each);
            // Whoever waits for it has nothing to wait for.
            each.enqueue();
        });
    }
}
