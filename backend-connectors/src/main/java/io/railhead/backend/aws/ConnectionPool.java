package io.railhead.backend.aws;

import io.netty.util.concurrent.EventExecutor;
import io.railhead.backend.BackendConfig;
import io.railhead.backend.BackendException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.Protocol;
import software.amazon.awssdk.http.SdkHttpConfigurationOption;
import software.amazon.awssdk.http.async.AsyncExecuteRequest;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.ProxyConfiguration;
import software.amazon.awssdk.http.nio.netty.SdkEventLoopGroup;
import software.amazon.awssdk.utils.AttributeMap;

/**
 * The connections to one store and the few threads that serve them. {@link StoreAttempt} has the
 * timeouts of responses and bodies. The HTTP client's own read timeout would also run while the
 * gateway does not read, and so fail requests of slow clients.
 */
final class ConnectionPool implements AutoCloseable {
    private static final int MAX_THREADS = 4;
    private static final int MAX_WAITING = 10_000;
    private static final int CLOSING_HOPS = 6;
    private static final Duration TLS_TIMEOUT = Duration.ofSeconds(5);
    /**
     * The idle time of a connection, shorter than stores keep one: a request on a connection that
     * the store just closed fails.
     */
    private static final Duration UNUSED = Duration.ofSeconds(5);

    private final SdkEventLoopGroup loops;
    private final SdkAsyncHttpClient client;
    private final Set<Abortable> running = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    ConnectionPool(BackendConfig config) {
        AtomicInteger number = new AtomicInteger();
        SdkEventLoopGroup plain = SdkEventLoopGroup.builder()
                .numberOfThreads(Math.clamp(Runtime.getRuntime().availableProcessors(), 1,
                        MAX_THREADS))
                .threadFactory(task -> Thread.ofPlatform()
                        .daemon()
                        .name("backend-" + config.name() + "-" + number.getAndIncrement())
                        .unstarted(task))
                .build();
        // The threads start now: the first request would wait for them.
        plain.eventLoopGroup().forEach(loop -> loop.execute(() -> {}));
        loops = SdkEventLoopGroup.create(plain.eventLoopGroup(), ResponseValidator::guardedChannel);
        client = client(config);
    }

    private SdkAsyncHttpClient client(BackendConfig config) {
        NettyNioAsyncHttpClient.Builder builder = NettyNioAsyncHttpClient.builder()
                .eventLoopGroup(loops)
                .protocol(Protocol.HTTP1_1)
                .maxConcurrency(config.maxConnections())
                .maxPendingConnectionAcquires(MAX_WAITING)
                .connectionTimeout(config.connectTimeout())
                .connectionAcquisitionTimeout(
                        config.answerTimeout().plus(config.connectTimeout()).plusSeconds(5))
                .tlsNegotiationTimeout(TLS_TIMEOUT)
                .connectionMaxIdleTime(UNUSED)
                .useIdleConnectionReaper(true)
                .connectionTimeToLive(Duration.ZERO)
                .readTimeout(Duration.ZERO)
                .writeTimeout(config.idleTimeout())
                .proxyConfiguration(proxy(config.proxy()))
                .tcpKeepAlive(true);
        if (config.ca() != null) {
            builder.tlsTrustManagersProvider(PrivateAuthority.read(config.ca()));
        }
        return builder.buildWithDefaults(AttributeMap.builder()
                .put(SdkHttpConfigurationOption.TRUST_ALL_CERTIFICATES, false)
                .build());
    }

    /**
     * Returns the configured proxy only: the SDK would otherwise read environment and properties.
     */
    private static ProxyConfiguration proxy(BackendConfig.@Nullable Proxy configured) {
        ProxyConfiguration.Builder builder = ProxyConfiguration.builder()
                .useSystemPropertyValues(false)
                .useEnvironmentVariableValues(false)
                .nonProxyHosts(Set.of());
        if (configured != null) {
            builder.scheme("http").host(configured.host()).port(configured.port());
            if (configured.user() != null) {
                builder.username(configured.user()).password(configured.password());
            }
        }
        return builder.build();
    }

    /** Returns the executor of retries, watchdogs and probes: brief tasks only. */
    ScheduledExecutorService timer() {
        return loops.eventLoopGroup();
    }

    Iterable<? extends Executor> eventLoops() {
        return loops.eventLoopGroup();
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

    CompletableFuture<Void> execute(RequestEncoder.Message message, StoreAttempt storeAttempt) {
        if (closed) {
            throw closedException();
        }
        return client.execute(AsyncExecuteRequest.builder()
                .request(message.request())
                .requestContentPublisher(storeAttempt.noticing(message.body()))
                .responseHandler(storeAttempt)
                .build());
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
        settle();
        loops.eventLoopGroup()
                .shutdownGracefully(0, 2, TimeUnit.SECONDS)
                .awaitUninterruptibly(5, TimeUnit.SECONDS);
    }

    /** Runs queued tasks first: connections that end pass tasks to each other's threads. */
    private void settle() {
        for (int hop = 0; hop < CLOSING_HOPS; hop++) {
            for (EventExecutor loop : loops.eventLoopGroup()) {
                loop.submit(() -> {}).awaitUninterruptibly(1, TimeUnit.SECONDS);
            }
        }
    }

    private static BackendException closedException() {
        return new BackendException(BackendException.Reason.UNSENT, "backend is closed", null);
    }
}
