package io.railhead.gateway.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.util.AttributeKey;
import io.railhead.gateway.accounting.Kind;
import io.railhead.gateway.admission.Admission;
import io.railhead.gateway.admission.Permit;
import io.railhead.gateway.admission.TenantInFlight;
import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.audit.HttpAudit;
import io.railhead.gateway.fill.ObjectHeaders;
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
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One HTTP request and its one response. All calls are on the connection's event loop;
 * {@link #executor} brings other threads there.
 *
 * <p> A long class: however a request ends, its permit, its metrics and its line in the access log
 * end here, once.
 */
public final class HttpExchange implements ResponseSink {
    private static final Logger LOG = LoggerFactory.getLogger(HttpExchange.class);

    public static final CharSequence AMZ_REQUEST_ID = HttpHeaders
            .createOptimized("x-amz-request-id");
    public static final CharSequence REQUEST_ID = HttpHeaders
            .createOptimized("x-railhead-request-id");
    private static final HexFormat UPPER_CASE = HexFormat.of().withUpperCase();
    private static final AttributeKey<Boolean> ENDING = AttributeKey.valueOf("railhead-ending");
    private static final String HOST_ID = "railhead";
    private static final long MAX_DRAINED_BYTES = 16 << 20;
    private static final int MAX_DIGITS = 18;
    private static final int BAD_REQUEST = 400;
    private static final int UNAVAILABLE = 503;
    /** Overload and outages of stores end within moments; SDKs add waits of their own. */
    private static final String RETRY_SECONDS = "1";

    private final HttpServerRequest request;
    private final HttpServerResponse response;
    private final Executor executor;
    private final Metrics metrics;
    private final AccessLog accessLog;
    private final Audit audit;
    private final HttpDate date;
    private final String requestId;
    private final long arrivedAtNanos = System.nanoTime();
    private final List<Runnable> closeListeners = new ArrayList<>(2);
    private String operation = "unknown";
    private boolean auditedByHandler;
    private String resource;
    private @Nullable Address address;
    private @Nullable Query query;
    private @Nullable S3Request asked;
    private @Nullable Authentication caller;
    private String openedSession = "";
    private HttpAccess.@Nullable Rdma rdma;
    private @Nullable Permit permit;
    private String errorCode = "";
    private long firstByteNanos = -1;
    private boolean failedHere;
    private boolean answered;
    private boolean draining;
    private boolean closing;
    private boolean ended;
    private boolean endsWithPages;

    public HttpExchange(HttpServerRequest request, Context context, Metrics metrics,
            AccessLog accessLog, Audit audit, HttpDate date, String requestId) {
        this.request = request;
        this.response = request.response();
        this.executor = task -> context.runOnContext(ignored -> attempt(task));
        this.metrics = metrics;
        this.accessLog = accessLog;
        this.audit = audit;
        this.date = date;
        this.requestId = requestId;
        this.resource = String.valueOf(request.path());
        metrics.inFlight.inc();
        response.exceptionHandler(cause -> closed());
        response.closeHandler(ignored -> closed());
        response.endHandler(ignored -> finish());
    }

    /** Returns a new request id in S3's format: 16 hex digits. */
    public static String newId() {
        return UPPER_CASE.toHexDigits(ThreadLocalRandom.current().nextLong());
    }

    /**
     * Fails the request after an exception, and stops everything under way: the step may be half
     * done.
     */
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

    /** Runs a step on the event loop; anything thrown fails the request. */
    public void attempt(Runnable step) {
        Guard.run(step, this::thrown);
    }

    /** Runs blocking work on a virtual thread; anything thrown fails the request. */
    public void attemptElsewhere(Runnable work) {
        Thread.ofVirtual()
                .start(() -> Guard.run(work,
                        cause -> executor.execute(() -> thrown(cause))));
    }

    /** Passes the body's pieces on as they come; anything a listener throws fails the request. */
    public void onBody(Consumer<Buffer> piece, Runnable end, Runnable broken) {
        request.exceptionHandler(_ -> attempt(broken));
        request.handler(bytes -> attempt(() -> piece.accept(bytes)));
        request.endHandler(_ -> attempt(end));
    }

    /** Runs a step that had to wait, unless the client has gone meanwhile. */
    public void goOn(Runnable step) {
        if (!isOver()) {
            attempt(step);
        }
    }

    /** Anything that a later step throws fails the request. */
    @Override
    public void after(CompletionStage<?> stage, Runnable step) {
        if (stage.toCompletableFuture().isDone()) {
            step.run();
        } else {
            stage.whenComplete((_, _) -> executor.execute(() -> attempt(step)));
        }
    }

    public HttpServerRequest request() {
        return request;
    }

    @Override
    public Executor executor() {
        return executor;
    }

    /** Returns the sender and the address, as policies see them. */
    public RequestSource asker(Authentication authentication) {
        return peer().as(authentication);
    }

    /** Returns the sender by address alone. */
    public RequestSource peer() {
        SocketAddress peer = request.remoteAddress();
        return RequestSource.anonymous(peer == null ? null : peer.hostAddress(), request.isSSL());
    }

    /** Returns the connection that the request came by. */
    public PeerConnection connection() {
        RequestSource peer = peer();
        return new PeerConnection(channel(request).id(), peer.source(), peer.secure());
    }

    /** Admits the request, or throws SlowDown; returns the tenant's quota. */
    public TenantInFlight enter(Admission admission, Authentication authentication) {
        caller = authentication;
        TenantInFlight tenantInFlight = admission.share(authentication, asker(authentication));
        permit = admission.enter(tenantInFlight, declaredBytes());
        chargeKnown(declaredBytes());
        return tenantInFlight;
    }

    private long declaredBytes() {
        String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
        return length == null && request.getHeader(HttpHeaders.TRANSFER_ENCODING) == null
                ? 0
                : bytes(length);
    }

    /**
     * Parses a length. A missing one, or one with too many digits, counts as the largest number.
     */
    private static long bytes(@Nullable String length) {
        return length == null || length.length() > MAX_DIGITS
                ? Long.MAX_VALUE
                : Long.parseLong(length);
    }

    /** Updates the permit to the number of bytes that the request will move. */
    public void moves(long bytes) {
        if (permit != null) {
            permit.holds(bytes);
            chargeKnown(bytes);
        }
    }

    /** Updates the permit to the number of bytes that the request holds for others. */
    public void holds(long bytes) {
        if (permit != null) {
            permit.holds(bytes);
        }
    }

    /** A body of unknown length is charged at its end. */
    private void chargeKnown(long bytes) {
        if (permit != null && bytes != Long.MAX_VALUE) {
            permit.charge(bytes);
        }
    }

    public String requestId() {
        return requestId;
    }

    @Override
    public long arrivedAtNanos() {
        return arrivedAtNanos;
    }

    /** Leaves the request's audit event to its handler, which knows more than the response says. */
    public void leaveAuditToHandler() {
        auditedByHandler = true;
    }

    /** Sets the names for metrics and for the error document. */
    public void describe(String operation, String resource) {
        this.operation = operation;
        this.resource = resource;
    }

    /** Sets the address and query, before the caller is authenticated. */
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

    /** Records a transfer of bytes to or from the client's memory. */
    public void movedByRdma(String fabric, long bytes) {
        rdma = new HttpAccess.Rdma(fabric, bytes);
    }

    /** Records that the request opened an RDMA session. */
    public void opens(String session) {
        openedSession = session;
    }

    /**
     * Reads the error code from the first piece of a store's error response, for the logs.
     */
    public void passes(ByteBuffer beginning) {
        if ((accessLog.isOn() || audit.isOn()) && response.getStatusCode() >= 400) {
            errorCode = ErrorXml.code(beginning.duplicate());
        }
    }

    /** Counts bytes that were relayed from a store. */
    public void relayed(long bytes) {
        chargeKnown(bytes);
        metrics.cacheBytes.labels("bypass", "http").inc((double) bytes);
        S3Request known = asked;
        if (!bucket().isEmpty() && response.getStatusCode() < 400) {
            metrics.buckets.delivered(bucket(), bytes);
        }
        if (known != null && response.getStatusCode() < 400) {
            metrics.usage.served(known.tenant(), known.address().bucket(), bytes);
        }
    }

    /** Returns whether a status has been chosen. After that only the body can be cut. */
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
        S3Request known = asked;
        if (known != null && known.route().rule().isCacheOnly()) {
            response.putHeader(ObjectHeaders.DURABILITY, ObjectHeaders.NOT_DURABLE);
        }
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
            // The rest of the request's body may be too long to read and discard.
            response.putHeader("connection", "close");
        }
        return response;
    }

    /** Returns whether the client may still send its body or leave it out. */
    private boolean isBodyAwaited() {
        return !request.isEnded() && request.getHeader(HttpHeaders.EXPECT) != null
                && announcesBody();
    }

    /** Ends a response with a body that is at hand. */
    public void end(Buffer body) {
        response.end(body);
    }

    public Future<Void> end() {
        return response.end();
    }

    /**
     * Ends the response with leased bytes. Admission counts them until the kernel has taken them.
     */
    public Future<Void> endWith(Buffer leased) {
        endsWithPages = true;
        return response.end(leased).onComplete(_ -> leave());
    }

    /** Answers with S3's error document, or cuts the body if the head was sent already. */
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
        failedHere = true;
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
     * Reads and discards the rest of an unwanted body, so that the peer can receive the response.
     * Above a bound the connection is closed.
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
     * Closes the connection after this response. The start of a next request is in doubt, so bytes
     * behind this one are not read as a request.
     */
    public void closeAfterwards() {
        closing = true;
        channel(request).attr(ENDING).set(true);
        response.putHeader("connection", "close");
    }

    /**
     * Starts a response of unknown length. In HTTP/1.0 the end of the connection marks the end of
     * the body; a reset then marks a body that was cut.
     */
    public void unsized() {
        if (request.version() == HttpVersion.HTTP_1_0) {
            closeAfterwards();
        } else {
            response.setChunked(true);
        }
    }

    /** Returns whether the request came behind one that ends their connection. */
    public static boolean isBehindTheEnd(HttpServerRequest request) {
        return isEnding(channel(request));
    }

    /** Returns whether further bytes on a connection are no requests any more. */
    public static boolean isEnding(Channel connection) {
        return Boolean.TRUE.equals(connection.attr(ENDING).get());
    }

    private static Channel channel(HttpServerRequest request) {
        return ((HttpServerConnection) request.connection()).channelHandlerContext().channel();
    }

    /**
     * Ends the connection in the middle of a body: an unfinished body must not look finished. If
     * nothing was sent yet, the client gets the store's refusal or an error instead.
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

    /**
     * Answers for a body that was lost before its first byte. A store's refusal keeps its status;
     * its document is lost.
     */
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

    /**
     * Discards a response of which nothing was sent, but keeps the decision to close the
     * connection.
     */
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

    /** Resets the connection, without TLS's close message. */
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
        S3Request known = asked;
        if (known != null && answered && response.getStatusCode() < 400) {
            metrics.usage.ended(known.tenant(), known.address().bucket(),
                    Kind.of(known.method(), known.namesObject()), nanos);
        }
        if (accessLog.isOn()) {
            new HttpAccess(new ServerTalk(request), requestId, address, query, asked, errorCode,
                    rdma,
                    new HttpAccess.Times(nanos, firstByteNanos)).writeTo(accessLog);
        }
        if (audit.isOn() && answered && !auditedByHandler) {
            new HttpAudit(new ServerTalk(request), requestId, address, query, caller, errorCode,
                    failedHere, rdma, openedSession).writeTo(audit);
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
