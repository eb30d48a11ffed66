package io.railhead.gateway.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.util.AttributeKey;
import io.railhead.gateway.admission.Admission;
import io.railhead.gateway.admission.Permit;
import io.railhead.gateway.admission.TenantInFlight;
import io.railhead.gateway.log.AccessLog;
import io.railhead.gateway.log.HttpAccess;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.PeerConnection;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.ResponseSink;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.ErrorXml;
import io.railhead.gateway.s3.Guard;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.impl.HttpServerConnection;
import io.vertx.core.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One HTTP request and the one answer it gets. Everything happens on its connection's event loop;
 * {@link #executor} brings others there.
 *
 * <p> A long class: whatever becomes of a request, its place in admission, its metrics and its line
 * in the log end here, once.
 */
public final class HttpExchange implements ResponseSink {
    private static final Logger LOG = LoggerFactory.getLogger(HttpExchange.class);

    public static final CharSequence AMZ_REQUEST_ID = HttpHeaders
            .createOptimized("x-amz-request-id");
    public static final CharSequence REQUEST_ID = HttpHeaders
            .createOptimized("x-railhead-request-id");
    private static final AttributeKey<Boolean> ENDING = AttributeKey.valueOf("railhead-ending");
    private static final String HOST_ID = "railhead";
    private static final long MAX_DRAINED_BYTES = 16 << 20;
    private static final int MAX_DIGITS = 18;
    private static final int BAD_REQUEST = 400;
    private static final int UNAVAILABLE = 503;
    /**
     * What ends overload, or brings a store back, takes a moment; SDKs wait longer of their own.
     */
    private static final String RETRY_SECONDS = "1";

    private final HttpServerRequest request;
    private final HttpServerResponse response;
    private final Executor executor;
    private final Metrics metrics;
    private final AccessLog accessLog;
    private final HttpDate date;
    private final String requestId;
    private final long arrivedAtNanos = System.nanoTime();
    private final List<Runnable> closeListeners = new ArrayList<>(2);
    private String operation = "unknown";
    private String resource;
    private @Nullable Address address;
    private @Nullable Query query;
    private @Nullable S3Request asked;
    private HttpAccess.@Nullable Rdma rdma;
    private @Nullable Permit permit;
    private String errorCode = "";
    private long firstByteNanos = -1;
    private boolean answered;
    private boolean draining;
    private boolean closing;
    private boolean ended;
    private boolean endsWithPages;

    public HttpExchange(HttpServerRequest request, Context context, Metrics metrics,
            AccessLog accessLog, HttpDate date, String requestId) {
        this.request = request;
        this.response = request.response();
        this.executor = task -> context.runOnContext(ignored -> attempt(task));
        this.metrics = metrics;
        this.accessLog = accessLog;
        this.date = date;
        this.requestId = requestId;
        this.resource = String.valueOf(request.path());
        metrics.inFlight.inc();
        response.exceptionHandler(cause -> closed());
        response.closeHandler(ignored -> closed());
        response.endHandler(ignored -> finish());
    }

    /** Stops all that is under way: a step that threw may have left it half done. */
    private void thrown(Throwable cause) {
        if (!(cause instanceof S3Refusal)) {
            if (response.headWritten() || isOver()) {
                unexpected(cause);
            }
            stop();
        }
        Guard.run(() -> fail(cause), failure -> {
            unexpected(failure);
            request.connection().close();
        });
    }

    private void stop() {
        List<Runnable> listeners = List.copyOf(closeListeners);
        closeListeners.clear();
        listeners.forEach(listener -> Guard.run(listener, this::unexpected));
    }

    /** Takes a step on the event loop; what it throws, whatever it is, fails the request. */
    public void attempt(Runnable step) {
        Guard.run(step, this::thrown);
    }

    /** Does what takes longer than an event loop has; what it throws fails the request. */
    public void attemptElsewhere(Runnable work) {
        Thread.ofVirtual()
                .start(() -> Guard.run(work,
                        cause -> executor.execute(() -> thrown(cause))));
    }

    /** Hears the body as it comes; what a listener throws fails the request. */
    public void onBody(Consumer<Buffer> piece, Runnable end, Runnable broken) {
        request.exceptionHandler(_ -> attempt(broken));
        request.handler(bytes -> attempt(() -> piece.accept(bytes)));
        request.endHandler(_ -> attempt(end));
    }

    /** After it has waited, its client may be gone. */
    public void goOn(Runnable step) {
        if (!isOver()) {
            attempt(step);
        }
    }

    public HttpServerRequest request() {
        return request;
    }

    @Override
    public Executor executor() {
        return executor;
    }

    /** Who sent it, and from where, as policies see it. */
    public RequestSource asker(Authentication authentication) {
        return peer().as(authentication);
    }

    /** Who sent it, by address alone. */
    public RequestSource peer() {
        SocketAddress peer = request.remoteAddress();
        return RequestSource.anonymous(peer == null ? null : peer.hostAddress(), request.isSSL());
    }

    /** By which connection it came. */
    public PeerConnection connection() {
        RequestSource peer = peer();
        return new PeerConnection(channel(request).id(), peer.source(), peer.secure());
    }

    /** Takes it on, or throws SlowDown; says whose it is. */
    public TenantInFlight enter(Admission admission, Authentication authentication) {
        TenantInFlight tenantInFlight = admission.share(authentication, asker(authentication));
        permit = admission.enter(tenantInFlight, declaredBytes());
        return tenantInFlight;
    }

    private long declaredBytes() {
        String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
        return length == null && request.getHeader(HttpHeaders.TRANSFER_ENCODING) == null
                ? 0
                : bytes(length);
    }

    /** What is not said may be any number; what has more digits is as much as that. */
    private static long bytes(@Nullable String length) {
        return length == null || length.length() > MAX_DIGITS
                ? Long.MAX_VALUE
                : Long.parseLong(length);
    }

    /** So many bytes are to be moved for it, now that it is known. */
    public void moves(long bytes) {
        if (permit != null) {
            permit.holds(bytes);
        }
    }

    public String requestId() {
        return requestId;
    }

    @Override
    public long arrivedAtNanos() {
        return arrivedAtNanos;
    }

    /** Names what this is in metrics, and in the error document. */
    public void describe(String operation, String resource) {
        this.operation = operation;
        this.resource = resource;
    }

    /** What it names, before anybody is known to ask. */
    public void addresses(Address newAddress, Query newQuery) {
        address = newAddress;
        query = newQuery;
    }

    public void asks(S3Request request) {
        asked = request;
    }

    /** Returns the verified request; null before. */
    public @Nullable S3Request asked() {
        return asked;
    }

    /** Its bytes went to, or came from, the client's memory. */
    public void movedByRdma(String fabric, long bytes) {
        rdma = new HttpAccess.Rdma(fabric, bytes);
    }

    /** The beginning of a store's answer that is passed on: of an error it has the code. */
    public void passes(ByteBuffer beginning) {
        if (accessLog.isOn() && response.getStatusCode() >= 400) {
            errorCode = ErrorXml.code(beginning.duplicate());
        }
    }

    /** Object bytes, or what else a store answers, that went through. */
    public void relayed(long bytes) {
        metrics.cacheBytes.labels("bypass", "http").inc((double) bytes);
        if (!bucket().isEmpty() && response.getStatusCode() < 400) {
            metrics.buckets.delivered(bucket(), bytes);
        }
    }

    /** Whether a status line has been chosen: after that only the body can be cut. */
    public boolean isAnswered() {
        return answered;
    }

    @Override
    public boolean isOver() {
        return ended || response.closed();
    }

    @Override
    public void onClosed(Runnable listener) {
        closeListeners.add(listener);
    }

    /** Chooses the status; the caller sets headers and writes the body. */
    public HttpServerResponse answer(int status) {
        answered = true;
        firstByteNanos = System.nanoTime() - arrivedAtNanos;
        response.setStatusCode(status);
        response.putHeader(AMZ_REQUEST_ID, requestId);
        response.putHeader(REQUEST_ID, requestId);
        response.putHeader(HttpHeaders.DATE, date.now());
        if (closing) {
            response.putHeader("connection", "close");
        }
        if (!request.isEnded()) {
            LingeringClose.whileSending(channel(request), () -> !request.isEnded());
        }
        if (isBodyAwaited()) {
            closeAfterwards();
        } else if (!request.isEnded() && request.getHeader(HttpHeaders.CONTENT_LENGTH) != null
                && declaredBytes() > MAX_DRAINED_BYTES) {
            // The rest may be too long to be read away.
            response.putHeader("connection", "close");
        }
        return response;
    }

    /** Returns whether the client may still send its body or leave it out. */
    private boolean isBodyAwaited() {
        return !request.isEnded() && request.getHeader(HttpHeaders.EXPECT) != null
                && announcesBody();
    }

    /** Ends an answer without a body, or with one that is at hand. */
    public void end(Buffer body) {
        response.end(body);
    }

    public Future<Void> end() {
        return response.end();
    }

    /** Ends it with what is leased until the kernel has it: so long admission counts its bytes. */
    public Future<Void> endWith(Buffer leased) {
        endsWithPages = true;
        return response.end(leased).onComplete(_ -> leave());
    }

    /** Answers with S3's error document, or cuts the body if it is too late for that. */
    @Override
    public void fail(Throwable cause) {
        if (isOver()) {
            return;
        }
        if (response.headWritten()) {
            cut("failed");
            return;
        }
        takeBack();
        S3Refusal error = cause instanceof S3Refusal known ? known : unexpected(cause);
        errorCode = error.error().code();
        metrics.failed(requestId, errorCode, error.status(), operation, bucket());
        String document = ErrorXml.render(error, resource, requestId, HOST_ID);
        HttpServerResponse answer = answer(error.status());
        if (error.status() == UNAVAILABLE) {
            answer.putHeader(HttpHeaders.RETRY_AFTER, RETRY_SECONDS);
        }
        error.headers().forEach(answer::putHeader);
        answer.putHeader("content-type", "application/xml");
        if (request.method().equals(HttpMethod.HEAD)) {
            answer.end();
        } else {
            answer.end(Buffer.buffer(document));
        }
    }

    /**
     * Reads away what is left of a body nobody wanted, so that the peer can hear the answer, within
     * bounds: past them the connection is closed.
     */
    public void drainRequest() {
        if (request.isEnded() || draining) {
            return;
        }
        draining = true;
        if (isBodyAwaited()) {
            request.connection().close();
            return;
        }
        long[] drained = {0};
        request.exceptionHandler(cause -> LOG.debug("request {} closed while drained", requestId));
        request.handler(piece -> {
            boolean within = drained[0] <= MAX_DRAINED_BYTES;
            drained[0] += piece.length();
            if (within && drained[0] > MAX_DRAINED_BYTES) {
                metrics.closedConnections.labels("long_body").inc();
                request.connection().close();
            }
        });
        request.resume();
    }

    private boolean announcesBody() {
        String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
        return request.getHeader(HttpHeaders.TRANSFER_ENCODING) != null
                || (length != null && !length.equals("0"));
    }

    private S3Refusal unexpected(Throwable cause) {
        metrics.internalErrors.labels("request").inc();
        LOG.atWarn()
                .setCause(cause)
                .addKeyValue("request_id", requestId)
                .addKeyValue("operation", operation)
                .addKeyValue("principal", asked == null ? "" : asked.principal())
                .log("request failed");
        return new S3Refusal(S3Error.INTERNAL_ERROR);
    }

    /**
     * Lets the connection end with this answer: where its next request begins is in doubt, so what
     * has come behind it already is no request.
     */
    public void closeAfterwards() {
        closing = true;
        channel(request).attr(ENDING).set(true);
        response.putHeader("connection", "close");
    }

    /**
     * The answer's length is not known before its end. HTTP/1.0 says an end by that of the
     * connection alone, whose reset says that it is none.
     */
    public void unsized() {
        if (request.version() == HttpVersion.HTTP_1_0) {
            closeAfterwards();
        } else {
            response.setChunked(true);
        }
    }

    /** Whether it came behind one that ends their connection. */
    public static boolean isBehindTheEnd(HttpServerRequest request) {
        return isEnding(channel(request));
    }

    /** Whether nothing that comes on a connection is a request any more. */
    public static boolean isEnding(Channel connection) {
        return Boolean.TRUE.equals(connection.attr(ENDING).get());
    }

    private static Channel channel(HttpServerRequest request) {
        return ((HttpServerConnection) request.connection()).channelHandlerContext().channel();
    }

    /**
     * Ends the connection in mid-body: a body that cannot be finished must not look finished. Where
     * nothing was sent yet the client hears what a store refused, or an error.
     */
    public void cut(String reason) {
        if (isOver()) {
            return;
        }
        if (!response.headWritten()) {
            endUnsent(reason);
        } else {
            metrics.cutBodies.labels(reason).inc();
            metrics.recentErrors.add(requestId, "cut: " + reason, response.getStatusCode(),
                    operation, bucket());
            if (closing) {
                reset();
            } else {
                request.connection().close();
            }
        }
    }

    /** A store's refusal is told without its document, which is what has been lost. */
    private void endUnsent(String reason) {
        int status = response.getStatusCode();
        if (status < BAD_REQUEST) {
            fail(new S3Refusal(S3Error.SERVICE_UNAVAILABLE, reason.equals("version")
                    ? "The object changed while it was read."
                    : "The store behind the gateway broke off its answer."));
            return;
        }
        takeBack();
        answer(status).putHeader("content-length", "0");
        response.end();
    }

    /** Forgets an answer of which nothing was sent, but for what ends the connection. */
    private void takeBack() {
        if (answered) {
            boolean ends = response.headers()
                    .contains(HttpHeaders.CONNECTION, HttpHeaders.CLOSE,
                            true);
            response.headers().clear();
            response.setChunked(false);
            if (ends) {
                response.putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
            }
        }
    }

    /** Without TLS's own goodbye either. */
    private void reset() {
        Channel channel = channel(request);
        channel.config().setOption(ChannelOption.SO_LINGER, 0);
        channel.unsafe().close(channel.voidPromise());
    }

    private void closed() {
        if (!ended) {
            ended = true;
            leave();
            Guard.run(this::done, this::unexpected);
            stop();
        }
    }

    private void finish() {
        if (!ended) {
            ended = true;
            if (endsWithPages && permit != null) {
                permit.answered();
            } else {
                leave();
            }
            Guard.run(this::done, this::unexpected);
            if (closing) {
                request.connection().close();
            } else {
                drainRequest();
            }
        }
    }

    private void leave() {
        if (permit != null) {
            permit.close();
        }
    }

    private void done() {
        metrics.inFlight.dec();
        metrics.requests
                .labels(operation, answered ? Integer.toString(response.getStatusCode()) : "closed")
                .inc();
        long nanos = System.nanoTime() - arrivedAtNanos;
        metrics.seconds.labels(operation).observe(nanos / 1e9);
        countBucket();
        if (accessLog.isOn()) {
            new HttpAccess(new ServerTalk(request), requestId, address, query, asked, errorCode,
                    rdma,
                    new HttpAccess.Times(nanos, firstByteNanos)).writeTo(accessLog);
        }
    }

    private String bucket() {
        String named = address == null ? null : address.bucket();
        return named == null ? "" : named;
    }

    private void countBucket() {
        if (bucket().isEmpty()) {
            return;
        }
        if (answered && response.getStatusCode() < 400) {
            metrics.buckets.succeeded(bucket());
        } else {
            metrics.buckets.failed(bucket());
        }
    }
}
