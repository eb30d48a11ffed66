package io.railhead.gateway.frontdoor;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.http.LingeringClose;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.s3.ErrorXml;
import io.railhead.gateway.s3.Guard;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.impl.HttpServerConnection;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.net.ServerSSLOptions;
import io.vertx.core.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The S3 listener: one server on each event loop, sharing one port. */
public final class S3Listener implements TlsPort {
    private static final Logger LOG = LoggerFactory.getLogger(S3Listener.class);
    private static final int MAX_REQUEST_LINE_BYTES = 16 << 10;
    private static final int UPDATE_SECONDS = 30;
    /**
     * The size of a piece of an upload. Each piece costs two wake-ups and a system call, but Vert.x
     * queues 16 pieces for a slow store. The size therefore bounds the heap that a request may
     * take.
     */
    private static final int PIECE_BYTES = 16 << 10;
    /**
     * The bytes that may wait in a connection. Pages stay leased, and a store's pieces counted,
     * until they are written. Waiting here lets one system call take them together, where waiting
     * before the connection takes one call each.
     */
    private static final WriteBufferWaterMark WAITING = new WriteBufferWaterMark(1 << 20, 4 << 20);

    private final Vertx vertx;
    private final FrontDoor door;
    private final HitServices hits;
    private final Metrics metrics;
    private final HttpServerOptions options;
    private final Duration headerTimeout;
    private final MinimumRateGuard.Limit pace;
    private final Connections connections;
    private final List<HttpServer> servers = new CopyOnWriteArrayList<>();
    private BooleanSupplier leaving = () -> false;
    private BooleanSupplier traced = () -> false;

    public S3Listener(Vertx vertx, FrontDoor door, HitServices hits, Connections connections,
            GatewayConfig.Gateway settings) {
        Duration idleTimeout = settings.idleTimeout();
        this.connections = connections;
        this.pace = MinimumRateGuard.Limit.of(settings.minRate().bytes(), idleTimeout);
        this.metrics = hits.logs().metrics();
        this.headerTimeout = settings.headerTimeout();
        this.vertx = vertx;
        this.door = door;
        this.hits = hits;
        this.options = new HttpServerOptions().setMaxHeaderSize((int) settings.maxHeader().bytes())
                .setMaxInitialLineLength(MAX_REQUEST_LINE_BYTES)
                .setIdleTimeout((int) idleTimeout.toMillis())
                .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
                .setHandle100ContinueAutomatically(false)
                .setHttp2ClearTextEnabled(false)
                .setCompressionSupported(false)
                .setPerFrameWebSocketCompressionSupported(false)
                .setPerMessageWebSocketCompressionSupported(false)
                .setMaxChunkSize(PIECE_BYTES)
                .setTcpNoDelay(true)
                .setReuseAddress(true);
    }

    private void over(ServerSSLOptions tls) {
        options.setSsl(true)
                .setKeyCertOptions(tls.getKeyCertOptions())
                .setTrustOptions(tls.getTrustOptions())
                .setClientAuth(tls.getClientAuth())
                .setEnabledSecureTransportProtocols(tls.getEnabledSecureTransportProtocols());
    }

    /**
     * Tells clients to close their connections while the condition holds. Call before it listens.
     */
    public S3Listener leavingWhile(BooleanSupplier condition) {
        leaving = condition;
        return this;
    }

    /**
     * Gives each request a span while the condition holds; Vert.x makes spans only for requests
     * that it serves. Call before it listens.
     */
    public S3Listener tracedWhile(BooleanSupplier condition) {
        traced = condition;
        return this;
    }

    public Future<?> listen(String host, int port, int eventLoops) {
        return vertx.deployVerticle(() -> (Deployable) context -> listen(context, host, port),
                new DeploymentOptions().setInstances(eventLoops));
    }

    private Future<HttpServer> listen(Context context, String host, int port) {
        Connections.OfLoop ofLoop = connections.new OfLoop();
        FairScheduler fairScheduler = FairScheduler
                .of(((ContextInternal) context).nettyEventLoop());
        HttpHitHandler httpHitHandler = new HttpHitHandler(hits, fairScheduler,
                () -> leaving.getAsBoolean() || traced.getAsBoolean());
        HttpServer server = vertx.createHttpServer(options)
                .requestHandler(request -> handle(request, context, fairScheduler,
                        httpHitHandler.verifiedRequestOf(request)))
                .connectionHandler(
                        connection -> guard(connection, ofLoop, fairScheduler.new Gathering(),
                                httpHitHandler))
                .invalidRequestHandler(this::refuse);
        servers.add(server);
        return server.listen(port, host);
    }

    private void handle(HttpServerRequest request, Context context, FairScheduler fairScheduler,
            @Nullable VerifiedRequest verifiedRequest) {
        Guard.run(() -> {
            if (leaving.getAsBoolean()) {
                request.response().putHeader("connection", "close");
            }
            door.handle(request, context, fairScheduler, verifiedRequest);
        }, thrown -> {
            LOG.warn("a request could not be begun", thrown);
            metrics.internalErrors.labels("request").inc();
            request.connection().close();
        });
    }

    private void guard(HttpConnection connection, Connections.OfLoop ofLoop,
            FairScheduler.Gathering gathering, HttpHitHandler httpHitHandler) {
        ChannelHandlerContext context = ((HttpServerConnection) connection).channelHandlerContext();
        ChannelPipeline pipeline = context.pipeline();
        if (!options.isSsl()) {
            // TLS encrypts into a copy, and nothing else counts those bytes.
            context.channel().config().setWriteBufferWaterMark(WAITING);
        }
        LingeringClose.guard(pipeline);
        pipeline.addBefore(context.name(), null, gathering);
        MinimumRateGuard minimumRateGuard = new MinimumRateGuard(pace,
                reason -> metrics.closedConnections.labels(reason).inc());
        pipeline.addBefore(context.name(), null, minimumRateGuard);
        pipeline.addBefore(context.name(), null, new HeapCopyHandler());
        StrictDecoder.replaceIn(pipeline, options, headerTimeout,
                metrics.closedConnections.labels("slow_head")::inc);
        ConnectionState state = ofLoop.add(context);
        SocketAddress peer = connection.remoteAddress();
        httpHitHandler.serve(pipeline,
                RequestSource.anonymous(peer == null ? null : peer.hostAddress(),
                        connection.isSsl()),
                state, minimumRateGuard);
    }

    /**
     * Refuses a message that is not HTTP or is too large. Its framing is in doubt, so the
     * connection is closed.
     */
    private void refuse(HttpServerRequest request) {
        if (HttpExchange.isBehindTheEnd(request)) {
            request.connection().close();
            return;
        }
        LingeringClose.whileSending(
                ((HttpServerConnection) request.connection()).channelHandlerContext().channel(),
                () -> true);
        S3Refusal error = refusal(request.decoderResult().cause());
        String requestId = HttpExchange.newId();
        metrics.failed(requestId, error.error().code(), error.status(), "unknown", "");
        request.response()
                .setStatusCode(error.status())
                .putHeader("x-amz-request-id", requestId)
                .putHeader("content-type", "application/xml")
                .putHeader("connection", "close")
                .end(ErrorXml.render(error, "", requestId, ""))
                .onComplete(ended -> request.connection().close());
    }

    private static S3Refusal refusal(@Nullable Throwable cause) {
        return switch (cause) {
            case TooLongHttpHeaderException _ ->
                new S3Refusal(S3Error.REQUEST_HEADER_SECTION_TOO_LARGE);
            case TooLongHttpLineException _ ->
                new S3Refusal(S3Error.INVALID_URI, "The specified URI is too long.");
            case null, default -> new S3Refusal(S3Error.BAD_REQUEST,
                    "An error occurred when parsing the HTTP request.");
        };
    }

    @Override
    public void use(ServerSSLOptions tls) {
        if (servers.isEmpty()) {
            over(tls);
        } else {
            update(tls);
        }
    }

    public int port() {
        return servers.getFirst().actualPort();
    }

    private void update(ServerSSLOptions tls) {
        for (HttpServer server : servers) {
            try {
                server.updateSSLOptions(tls.copy(), true).await(UPDATE_SECONDS, TimeUnit.SECONDS);
            } catch (Exception e) {
                // Futures rethrow their cause, which may be a checked exception.
                throw new IllegalArgumentException("gateway.tls: " + e.getMessage(), e);
            }
        }
    }

    /**
     * Stops accepting, and waits for requests under way, at most so long. Connections that are left
     * are cut: Vert.x would close them only after the peer has read everything.
     */
    public Future<?> drain(Duration atMost) {
        vertx.setTimer(Math.max(1, atMost.toMillis()), _ -> connections.cut());
        return Future.all(servers.stream()
                .map(server -> server.shutdown(atMost.toMillis(), TimeUnit.MILLISECONDS))
                .toList());
    }
}
