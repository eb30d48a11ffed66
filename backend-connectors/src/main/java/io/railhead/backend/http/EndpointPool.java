package io.railhead.backend.http;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendException.Reason;
import java.net.URI;
import java.time.Duration;
import java.util.Deque;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The connections to one endpoint, and the exchanges that wait for one. The connection that was
 * used last is used first. Any thread; takes no lock.
 *
 * <p> Whoever adds to one of the two queues then looks into the other, so that no exchange waits
 * while a connection is free.
 */
final class EndpointPool {
    /**
     * The idle time of a connection, shorter than stores keep one: a request on a connection that
     * the store just closed fails.
     */
    static final long UNUSED_NANOS = Duration.ofSeconds(5).toNanos();
    private static final int MAX_WAITING = 10_000;

    /** Opens a connection; calls {@link #opened} or {@link #refused} once. */
    interface Opener {
        void open(URI endpoint, EndpointPool pool, StoreExchange exchange);
    }

    private final URI endpoint;
    private final int maxConnections;
    private final Opener opener;
    private final Deque<StoreConnection> idle = new ConcurrentLinkedDeque<>();
    private final Queue<StoreExchange> waiting = new ConcurrentLinkedQueue<>();
    private final Set<StoreConnection> all = ConcurrentHashMap.newKeySet();
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger queued = new AtomicInteger();

    EndpointPool(URI endpoint, int maxConnections, Opener opener) {
        this.endpoint = endpoint;
        this.maxConnections = maxConnections;
        this.opener = opener;
    }

    /** Starts the exchange on a connection, at once or when one is free. */
    void acquire(StoreExchange exchange) {
        StoreConnection free = pollOpen();
        if (free != null) {
            free.start(exchange);
        } else if (queued.incrementAndGet() > MAX_WAITING) {
            queued.decrementAndGet();
            exchange.failed(new BackendException(Reason.BUSY,
                    "too many requests wait for a connection to the store", null));
        } else {
            waiting.add(exchange);
            serve();
        }
    }

    /** Takes an exchange back that may still be waiting; returns whether it was. */
    boolean withdraw(StoreExchange exchange) {
        boolean removed = waiting.remove(exchange);
        if (removed) {
            queued.decrementAndGet();
        }
        return removed;
    }

    private StoreConnection pollOpen() {
        StoreConnection free = idle.pollFirst();
        while (free != null && !free.isOpen()) {
            free = idle.pollFirst();
        }
        return free;
    }

    private void serve() {
        while (!waiting.isEmpty()) {
            StoreConnection free = pollOpen();
            if (free == null && !tryReserve()) {
                return;
            }
            StoreExchange next = waiting.poll();
            if (next != null) {
                queued.decrementAndGet();
            }
            if (free != null) {
                give(free, next);
            } else if (next == null || next.isOver()) {
                open.decrementAndGet();
            } else {
                opener.open(endpoint, this, next);
            }
        }
    }

    private void give(StoreConnection free, StoreExchange next) {
        if (next == null || next.isOver()) {
            idle.addFirst(free);
        } else {
            free.start(next);
        }
    }

    private boolean tryReserve() {
        int now = open.get();
        while (now < maxConnections) {
            if (open.compareAndSet(now, now + 1)) {
                return true;
            }
            now = open.get();
        }
        return false;
    }

    /** Takes a new connection, which its exchange uses first. */
    void opened(StoreConnection connection, StoreExchange exchange) {
        all.add(connection);
        if (!connection.isOpen()) {
            closed(connection); // its end may have been noted before it was known here
        }
        connection.start(exchange);
    }

    /** Notes that no connection came about. */
    void refused(StoreExchange exchange, Throwable cause) {
        open.decrementAndGet();
        try {
            exchange.failed(cause);
        } finally {
            serve();
        }
    }

    /** Takes a connection back that is free. */
    void release(StoreConnection connection) {
        idle.addFirst(connection);
        serve();
    }

    /** Takes an idle connection out of use; false if an exchange has it. */
    boolean withdraw(StoreConnection connection) {
        return idle.remove(connection);
    }

    /** Notes that a connection has closed. */
    void closed(StoreConnection connection) {
        if (all.remove(connection)) {
            idle.remove(connection);
            open.decrementAndGet();
            serve();
        }
    }

    /** Closes all connections. */
    void close() {
        all.forEach(StoreConnection::close);
    }
}
