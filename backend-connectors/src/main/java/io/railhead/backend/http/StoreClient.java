package io.railhead.backend.http;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.EventExecutor;
import io.railhead.backend.BackendConfig;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/** The HTTP/1.1 client of one store: its few threads, and its connections. Any thread. */
public final class StoreClient implements AutoCloseable {
    private static final int MAX_THREADS = 4;
    private static final int CLOSING_HOPS = 6;

    private final EventLoopGroup loops;
    private final Connector connector;
    private final int maxConnections;
    private final Map<URI, EndpointPool> pools = new ConcurrentHashMap<>();

    /** @param trust the authorities to trust; null for those of the JDK */
    public StoreClient(BackendConfig config, TrustManager @Nullable [] trust) {
        loops = new MultiThreadIoEventLoopGroup(
                Math.clamp(Runtime.getRuntime().availableProcessors(), 1, MAX_THREADS),
                threads(config.name()),
                Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
        // The threads start now: the first request would wait for them.
        loops.forEach(loop -> loop.execute(() -> {}));
        maxConnections = config.maxConnections();
        connector = new Connector(loops, config, trust);
    }

    private static ThreadFactory threads(String store) {
        AtomicInteger number = new AtomicInteger();
        return task -> Thread.ofPlatform()
                .daemon()
                .name("backend-" + store + "-" + number.getAndIncrement())
                .unstarted(task);
    }

    /** Returns the event loops, which are also the timer. */
    public EventLoopGroup loops() {
        return loops;
    }

    /** Sends the exchange's request to the endpoint, once a connection is free. */
    public void send(URI endpoint, StoreExchange exchange) {
        pool(endpoint).acquire(exchange);
    }

    /** Takes an exchange back that waits for a connection. */
    public void withdraw(URI endpoint, StoreExchange exchange) {
        pool(endpoint).withdraw(exchange);
    }

    private EndpointPool pool(URI endpoint) {
        return pools.computeIfAbsent(endpoint,
                each -> new EndpointPool(each, maxConnections, connector));
    }

    /** Closes all connections and ends the threads. Waits for them. */
    @Override
    public void close() {
        pools.values().forEach(EndpointPool::close);
        settle();
        loops.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(5, TimeUnit.SECONDS);
    }

    /** Runs queued tasks first: connections that end pass tasks to each other's threads. */
    private void settle() {
        for (int hop = 0; hop < CLOSING_HOPS; hop++) {
            for (EventExecutor loop : loops) {
                loop.submit(() -> {}).awaitUninterruptibly(1, TimeUnit.SECONDS);
            }
        }
    }
}
