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
public final class S3Listener {
    private static final Logger LOG = LoggerFactory.getLogger(S3Listener.class);
    private static final int MAX_REQUEST_LINE_BYTES = 16 << 10;
    private static final int UPDATE_SECONDS = 30;
    /**
     * Each piece of an upload costs two wake-ups and a call to the kernel; but Vert.x lets 16 of
     * them wait for a store that is slow, which is what a request may take of the heap.
     */
    private static final int PIECE_BYTES = 16 << 10;
    /**
     * Pages are leased until they are written, and a store's pieces counted, wherever they wait: so
     * many wait where one call to the kernel takes them all, not one by one before the connection.
     */
    private static final WriteBufferWaterMark WAITING = new WriteBufferWaterMark(1 << 20, 4 << 20);

    private final Vertx vertx;
    private final FrontDoor door;
    private final Metrics metrics;
    private final HttpServerOptions options;
    private final Duration headerTimeout;
    private final MinimumRateGuard.Limit pace;
    private final Connections connections;
    private final List<HttpServer> servers = new CopyOnWriteArrayList<>();
    private BooleanSupplier leaving = () -> false;
    private BooleanSupplier traced = () -> false;

    public S3Listener(Vertx vertx, FrontDoor door, Metrics metrics, Connections connections,
            GatewayConfig.Gateway settings) {
        Duration idleTimeout = settings.idleTimeout();
        this.connections = connections;
        this.pace = MinimumRateGuard.Limit.of(settings.minRate().bytes(), idleTimeout);
        this.metrics = metrics;
        this.headerTimeout = settings.headerTimeout();
        this.vertx = vertx;
        this.door = door;
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

    /** Before it listens: TLS, and nothing else, is spoken. */
    public S3Listener over(ServerSSLOptions tls) {
        options.setSsl(true)
                .setKeyCertOptions(tls.getKeyCertOptions())
                .setTrustOptions(tls.getTrustOptions())
                .setClientAuth(tls.getClientAuth())
                .setEnabledSecureTransportProtocols(tls.getEnabledSecureTransportProtocols());
        return this;
    }

    /** Before it listens: clients are told to close their connections while this holds. */
    public S3Listener leavingWhile(BooleanSupplier condition) {
        leaving = condition;
        return this;
    }

    /**
     * Before it listens: while this holds each request is to have a span, which Vert.x makes of
     * those it serves.
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
        HttpHitHandler httpHitHandler = door.hits(fairScheduler,
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
            // What TLS has encrypted is a copy, that nobody else counts.
            context.channel().config().setWriteBufferWaterMark(WAITING);
        }
        LingeringClose.guard(pipeline);
        pipeline.addBefore(context.name(), null, gathering);
        pipeline.addBefore(context.name(), null, new IdleExemption());
        MinimumRateGuard minimumRateGuard = new MinimumRateGuard(pace,
                reason -> metrics.closedConnections.labels(reason).inc());
        pipeline.addBefore(context.name(), null, minimumRateGuard);
        pipeline.addBefore(context.name(), null, new HeapCopyHandler());
        StrictDecoder.replaceIn(pipeline, options);
        Connections.Waiting place = ofLoop.add(context);
        SocketAddress peer = connection.remoteAddress();
        httpHitHandler.serve(context,
                RequestSource.anonymous(peer == null ? null : peer.hostAddress(),
                        connection.isSsl()),
                minimumRateGuard, place);
        HeadDeadline.guard(pipeline, headerTimeout,
                metrics.closedConnections.labels("slow_head")::inc);
    }

    /** What is not HTTP, or too large: the connection's framing is in doubt, so it is closed. */
    private void refuse(HttpServerRequest request) {
        if (HttpExchange.isBehindTheEnd(request)) {
            request.connection().close();
            return;
        }
        LingeringClose.whileSending(
                ((HttpServerConnection) request.connection()).channelHandlerContext().channel(),
                () -> true);
        S3Refusal error = refusal(request.decoderResult().cause());
        String requestId = RequestIds.next();
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

    public boolean isListening() {
        return !servers.isEmpty();
    }

    public int port() {
        return servers.getFirst().actualPort();
    }

    /**
     * What new connections are answered with: another certificate. Without TLS it is refused.
     *
     * @throws IllegalArgumentException where one of the servers would not take it
     */
    public void update(ServerSSLOptions tls) {
        for (HttpServer server : servers) {
            try {
                server.updateSSLOptions(tls.copy(), true).await(UPDATE_SECONDS, TimeUnit.SECONDS);
            } catch (Exception e) {
                // Futures throw what they failed with, checked or not.
                throw new IllegalArgumentException("gateway.tls: " + e.getMessage(), e);
            }
        }
    }

    /**
     * Accepts nothing more and waits for what is being answered, at most so long; what is left is
     * cut, which Vert.x would only do once its peer had read what was written.
     */
    public Future<?> drain(Duration atMost) {
        vertx.setTimer(Math.max(1, atMost.toMillis()), _ -> connections.cut());
        return Future.all(servers.stream()
                .map(server -> server.shutdown(atMost.toMillis(), TimeUnit.MILLISECONDS))
                .toList());
    }
}
