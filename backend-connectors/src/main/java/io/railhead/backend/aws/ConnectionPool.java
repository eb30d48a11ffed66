package io.railhead.backend.aws;

import io.railhead.backend.BackendConfig;
import io.railhead.backend.BackendException;
import io.railhead.backend.http.StoreClient;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;

/**
 * The connections to one store with all work that is under way on them, so that a store can be
 * closed. {@link StoreAttempt} has the timeouts of responses and bodies.
 */
final class ConnectionPool implements AutoCloseable {
    private final StoreClient client;
    private final Set<Abortable> running = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    ConnectionPool(BackendConfig config) {
        client = new StoreClient(config, config.ca() == null
                ? null
                : PrivateAuthority.read(config.ca()).trustManagers());
    }

    /** Returns the executor of retries, watchdogs and probes: brief tasks only. */
    ScheduledExecutorService timer() {
        return client.loops();
    }

    Iterable<? extends Executor> eventLoops() {
        return client.loops();
    }

    /** Work that waits for a store and can be aborted. */
    interface Abortable {
        void abort(BackendException cause);
    }

    /** Registers work under way; paired with {@link #ended}. */
    void began(Abortable work) {
        running.add(work);
        if (closed) {
            work.abort(closedException());
        }
    }

    void ended(Abortable work) {
        running.remove(work);
    }

    boolean isIdle() {
        return running.isEmpty();
    }

    void send(URI endpoint, StoreAttempt storeAttempt) {
        if (closed) {
            throw closedException();
        }
        client.send(endpoint, storeAttempt);
    }

    void withdraw(URI endpoint, StoreAttempt storeAttempt) {
        client.withdraw(endpoint, storeAttempt);
    }

    /** Aborts waiting work first, then ends connections and threads. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        running.forEach(work -> work.abort(closedException()));
        client.close();
    }

    private static BackendException closedException() {
        return new BackendException(BackendException.Reason.UNSENT, "backend is closed", null);
    }
}
