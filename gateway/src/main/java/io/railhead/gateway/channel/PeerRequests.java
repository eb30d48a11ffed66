package io.railhead.gateway.channel;

import io.railhead.backend.Headers;
import io.railhead.gateway.accounting.Kind;
import io.railhead.gateway.admission.Permit;
import io.railhead.gateway.admission.TenantInFlight;
import io.railhead.gateway.channel.ChannelCounts.Outcome;
import io.railhead.gateway.identity.Identity;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.object.cacheonly.CacheOnlyKeys;
import io.railhead.gateway.object.read.ObjectRead;
import io.railhead.gateway.object.read.ReadRules;
import io.railhead.gateway.object.write.RdmaPut;
import io.railhead.gateway.rdma.RdmaErrors;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.Route;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Guard;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.protocol.channel.RequestRange;
import io.railhead.protocol.channel.RequestView;
import io.railhead.protocol.token.TokenOperation;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.RemoteWindows;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.channel.RequestChannel;
import io.vertx.core.Context;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves one channel's requests: hits at once, all others on one event loop.
 *
 * <p> Calls come on the channel's own thread, which alone uses the cached routes; any thread may
 * clear them. The event loop, too, changes the table of outstanding requests.
 */
final class PeerRequests {
    private static final int REMEMBERED = 512;
    /** Cache-only objects are each gateway's own. */
    private static final String OWN = "own";

    private final ChannelServices services;
    private final RequestChannel channel;
    private final Context context;
    private final ChannelCounts counts;
    private final ChannelHitHandler channelHitHandler;
    private volatile @Nullable CachedRoute[] names = new @Nullable CachedRoute[REMEMBERED];
    private final Map<Integer, ChannelExchange> outstanding;
    private final RemovalSubscriptions removals;
    private final ChannelLogs logs;
    private final RequestSource requestSource;
    private final ChannelLog log;
    private final TenantInFlight tenantInFlight;
    private final boolean sharedOnly;
    private Identity caller;

    /** @param context the event loop of requests that are no hits */
    PeerRequests(ChannelServices services, RequestChannel channel,
            SessionCallers.Caller caller,
            Context context, ChannelCounts counts, ChannelLogs logs) {
        this(services, channel, caller, context, counts, logs, null);
    }

    private PeerRequests(ChannelServices services, RequestChannel channel,
            SessionCallers.Caller caller,
            Context context, ChannelCounts counts, ChannelLogs logs,
            @Nullable PeerRequests older) {
        this.outstanding = older == null ? new ConcurrentHashMap<>() : older.outstanding;
        this.removals = older == null
                ? new RemovalSubscriptions(this::removed, this::unremoved)
                : older.removals;
        this.logs = logs;
        this.services = services;
        this.channel = channel;
        this.caller = caller.identity();
        this.sharedOnly = caller.sharedOnly();
        this.requestSource = caller.asker();
        this.tenantInFlight = services.admission().share(caller.identity().principal());
        this.context = context;
        this.counts = counts;
        this.log = new ChannelLog(logs, channel.session(), requestSource);
        this.channelHitHandler = new ChannelHitHandler(services.reads().servability(),
                services.windowBytes(), counts, log,
                bytes -> services.admission().charge(tenantInFlight, bytes));
    }

    /** Drops all cached routes, after rules or backends have changed. Any thread. */
    void forgetNames() {
        names = new @Nullable CachedRoute[REMEMBERED];
    }

    int outstanding() {
        return outstanding.size();
    }

    /**
     * Returns what goes on with the channel in this caller's name; requests under way stay in the
     * older caller's.
     */
    PeerRequests renewedBy(SessionCallers.Caller newer) {
        return new PeerRequests(services, channel, newer, context, counts, logs, this);
    }

    void handle(RequestView request) {
        Guard.run(() -> serve(request), thrown -> refuse(request, thrown instanceof S3Refusal e
                ? e
                : counts.unexpected(channel, request.id(), request.operation(), thrown)));
    }

    /** Serves a request. Hits are not counted as in flight: the session's credits bound them. */
    private void serve(RequestView request) {
        services.admission().pass(tenantInFlight);
        if (request.operation().isOfKeys()) {
            if (sharedOnly) {
                decline(request, OWN);
            } else {
                serveKeys(request);
            }
            return;
        }
        boolean moves = request.operation() != RequestOperation.HEAD;
        String unusable = moves ? unusable(request) : null;
        CachedRoute known = unusable == null ? know(request) : null;
        if (known == null) {
            if (unusable == null) {
                refuse(request, new S3Refusal(S3Error.INVALID_BUCKET_NAME));
            } else {
                decline(request, unusable);
            }
        } else if (sharedOnly && known.rule().isCacheOnly()) {
            decline(request, OWN);
        } else if (!moves) {
            start(request, known, null);
        } else if (!known.rule().rdma()) {
            decline(request, "rule");
        } else {
            move(request, known);
        }
    }

    /** Serves a request of many keys: a short one at once, since no store is asked. */
    private void serveKeys(RequestView request) {
        long arrivedAtNanos = System.nanoTime();
        String bucket = request.bucket();
        if (!Address.isBucketName(bucket)) {
            throw new S3Refusal(S3Error.INVALID_BUCKET_NAME);
        }
        Route route = services.routes()
                .route(new Authentication.Proven(caller.principal(), caller.key()),
                        Address.ofObject(bucket, request.key()));
        if (!route.rule().isCacheOnly() || !route.rule().rdma()) {
            decline(request, route.rule().isCacheOnly() ? "rule" : "unsupported");
            return;
        }
        CacheOnlyKeys keys = keys(route, bucket, requestSource);
        Request copy = request.toRequest();
        if (copy.operation() == RequestOperation.REMOVALS) {
            removals.await(copy, keys,
                    rights(new SessionCallers.Caller(caller, requestSource, false), bucket,
                            copy.key()));
            return;
        }
        if (ChannelKeys.isLong(copy)
                || (copy.operation() == RequestOperation.LEASE && keys.mayWait())) {
            serveElsewhere(copy, keys);
            return;
        }
        Answer answer = new ChannelKeys(keys, () -> false).answer(copy);
        long nanos = System.nanoTime() - arrivedAtNanos;
        services.reads().metrics().usage.ended(requestSource.tenant(), bucket,
                kind(request.operation()), nanos);
        counts.took(request.operation(), nanos);
        counts.ended(bucket, request.operation(), outcome(request.operation()));
        answer(request, answer);
    }

    private CacheOnlyKeys keys(Route route, String bucket, RequestSource source) {
        return new CacheOnlyKeys(services.reads().cache().cacheOnly(), services.access(), source,
                route, bucket);
    }

    /** Returns a supplier of what the session's opener may see by then; null for nothing. */
    private Supplier<@Nullable CacheOnlyKeys> rights(SessionCallers.Caller opener, String bucket,
            String prefix) {
        return () -> {
            SessionCallers.Caller inForce = inForce(opener);
            if (inForce == null) {
                return null;
            }
            Identity identity = inForce.identity();
            Route route = services.routes()
                    .route(new Authentication.Proven(identity.principal(), identity.key()),
                            Address.ofObject(bucket, prefix));
            return route.rule().isCacheOnly() && route.rule().rdma()
                    ? keys(route, bucket, inForce.asker())
                    : null;
        };
    }

    /** Returns the caller, or the one who renewed the session since; null if neither holds. */
    private SessionCallers.@Nullable Caller inForce(SessionCallers.Caller opener) {
        if (isInForce(opener)) {
            return opener;
        }
        SessionCallers.Caller newer = services.callers().find(channel.session().id());
        return newer != null && isInForce(newer) ? newer : null;
    }

    private boolean isInForce(SessionCallers.Caller one) {
        Identity identity = one.identity();
        return identity.equals(services.credentials().findAgain(identity.key()));
    }

    /** Sends the answer of a REMOVALS. */
    private void removed(Request request, Answer answer) {
        boolean isCancelled = answer.code().equals(Answer.CANCELLED);
        if (answer.status() == 0 && !isCancelled) {
            counts.declined(answer.code());
        }
        counts.ended(request.bucket(), request.operation(), answer.isSuccess()
                ? Outcome.DESCRIBED
                : isCancelled ? Outcome.CANCELLED : Outcome.DECLINED);
        log.ended(request.operation(), request.bucket(), request.key(), answer,
                System.nanoTime());
        channel.answer(answer);
    }

    /** Answers a REMOVALS that failed. */
    private void unremoved(Request request, Throwable thrown) {
        S3Refusal error = thrown instanceof S3Refusal refusal
                ? refusal
                : counts.unexpected(channel, request.id(), request.operation(), thrown);
        counts.error(Answer.requestId(channel.session().number(), request.id()), error,
                request.operation(), request.bucket());
        counts.ended(request.bucket(), request.operation(), Outcome.FAILED);
        channel.answer(Answer.failed(request.id(), error.status(), error.error().code(),
                error.detail()));
    }

    /** Judges many keys on a thread of its own; the session's requests bound such threads. */
    private void serveElsewhere(Request request, CacheOnlyKeys objects) {
        ChannelExchange exchange = begin(request, 0);
        ChannelKeys keys = new ChannelKeys(objects, exchange::isOver);
        Thread.ofVirtual().start(() -> Guard.run(() -> {
            Answer answer = ChannelKeys.isScan(request)
                    ? scan(request, keys)
                    : keys.answer(request);
            exchange.execute(() -> exchange.answer(outcome(request.operation()), answer));
        }, thrown -> exchange.execute(() -> exchange.fail(thrown))));
    }

    /** Answers a request that looks at many objects: one of a tenant at a time. */
    private Answer scan(Request request, ChannelKeys keys) {
        if (!tenantInFlight.tryBeginScan()) {
            throw new S3Refusal(S3Error.SLOW_DOWN,
                    "Another request by prefix of this tenant is under way.");
        }
        try {
            return keys.answer(request);
        } finally {
            tenantInFlight.endScan();
        }
    }

    private static Outcome outcome(RequestOperation ofKeys) {
        return ofKeys.isRemoval() ? Outcome.REMOVED : Outcome.DESCRIBED;
    }

    private static Kind kind(RequestOperation operation) {
        return operation.isRemoval()
                ? Kind.FREE
                : operation.isWrite() ? Kind.WRITE : Kind.READ;
    }

    private void move(RequestView request, CachedRoute known) {
        RemoteWindows windows;
        try {
            if (request.windowCount() == 0) {
                RemoteBuffer window = channel.session()
                        .window(request.bufferKey(), request.offset(), request.window());
                if (isServedAsHit(request, known, window)) {
                    return;
                }
                windows = RemoteWindows.of(window);
            } else {
                windows = windows(request);
            }
        } catch (TransferException e) {
            refuse(request, RdmaErrors.of(e));
            return;
        }
        start(request, known, windows);
    }

    private boolean isServedAsHit(RequestView request, CachedRoute known, RemoteBuffer window) {
        return request.operation() == RequestOperation.GET
                && services.access().allows(requestSource, known.reading())
                && channelHitHandler.tryServe(request, known, window, channel);
    }

    /** Returns a request's several windows, each checked to lie within its buffer. */
    private RemoteWindows windows(RequestView request) {
        RemoteWindows windows = new RemoteWindows(request.windows()
                .stream()
                .map(window -> channel.session()
                        .window(window.bufferKey(), window.offset(), window.length()))
                .toList());
        if (request.operation() == RequestOperation.GET && windows.overlap()) {
            throw new S3Refusal(S3Error.INVALID_ARGUMENT, "The windows of a GET overlap.");
        }
        return windows;
    }

    /**
     * Returns whether the session's opener is unchanged. A reload may have removed or changed the
     * key, and the role session that opened this one may be over. The channel's own thread calls.
     */
    @SuppressWarnings("ReferenceEquality")
    boolean isCallerStill() {
        Identity now = services.credentials().findAgain(caller.key());
        if (now == caller) {
            return true;
        }
        if (now == null || !now.equals(caller)) {
            return false;
        }
        caller = now;
        return true;
    }

    /** Returns why this caller's window cannot be used, whatever the object; null if it can be. */
    private @Nullable String unusable(RequestView request) {
        Principal principal = caller.principal();
        boolean isWrite = request.operation().isWrite();
        if (isWrite ? !principal.rdmaPut() : !principal.rdmaGet()) {
            return "permission";
        }
        // An empty object needs no window, and an empty window cannot be registered.
        return isWrite && request.window() == 0 ? "empty" : null;
    }

    /** Returns the route of the request's name; null if no bucket can have the name. */
    private @Nullable CachedRoute know(RequestView request) {
        int at = request.nameHash() & (REMEMBERED - 1);
        // Read once: if a reload replaces the array meanwhile, the route found is not kept in the
        // new one.
        @Nullable
        CachedRoute[] remembered = names;
        CachedRoute known = remembered[at];
        if (known != null && request.nameEquals(known.name())) {
            return known;
        }
        if (!Address.isBucketName(request.bucket())) {
            return null;
        }
        CachedRoute met = new CachedRoute(request.name(), caller, requestSource, services.routes());
        remembered[at] = met;
        return met;
    }

    private void decline(RequestView request, String reason) {
        counts.declined(reason);
        counts.ended(request.bucket(), request.operation(), Outcome.DECLINED);
        answer(request, Answer.declined(request.id(), reason));
    }

    private void answer(RequestView request, Answer answer) {
        if (log.isOn() || answer.status() != 0) {
            log.ended(request.operation(), request.bucket(), request.name().key(), answer,
                    System.nanoTime());
        }
        channel.answer(answer);
    }

    private void refuse(RequestView request, S3Refusal error) {
        counts.error(Answer.requestId(channel.session().number(), request.id()), error,
                request.operation(), request.bucket());
        counts.ended(request.bucket(), request.operation(), Outcome.FAILED);
        answer(request, Answer.failed(request.id(), error.status(), error.error().code(),
                error.detail()));
    }

    private void start(RequestView view, CachedRoute known, @Nullable RemoteWindows windows) {
        Request request = view.toRequest();
        ChannelExchange exchange = begin(request, windows == null ? 0 : windows.length());
        exchange.execute(() -> serve(exchange, request, known, windows));
    }

    /** @param most the most bytes that the request moves */
    private ChannelExchange begin(Request request, long most) {
        Permit permit = services.admission().enterPassed(tenantInFlight, most);
        if (request.operation().isWrite()) {
            permit.charge(most);
        }
        int id = request.id();
        long arrivedAtNanos = System.nanoTime();
        ChannelExchange exchange = new ChannelExchange(request, channel, context, counts,
                answer -> {
                    outstanding.remove(id);
                    permit.close();
                    if (answer.isSuccess()) {
                        services.reads().metrics().usage.ended(requestSource.tenant(),
                                request.bucket(), kind(request.operation()),
                                System.nanoTime() - arrivedAtNanos);
                    }
                    log.ended(request.operation(), request.bucket(), request.key(), answer,
                            arrivedAtNanos);
                }, permit::charge);
        outstanding.put(id, exchange);
        return exchange;
    }

    /** Serves the request on the event loop. */
    private void serve(ChannelExchange exchange, Request request, CachedRoute known,
            @Nullable RemoteWindows windows) {
        if (exchange.isOver()) {
            return;
        }
        switch (request.operation()) {
            case GET -> get(exchange,
                    allowed(known.request("GET", version(request), reading(request))),
                    requireWindows(windows));
            case HEAD -> new ChannelHead(services.reads(), exchange,
                    allowed(known.request("HEAD", version(request), reading(request)))).start();
            case EXISTS, PREFIX, DELETE, DELETE_PREFIX, LEASE, TOUCH, USAGE, REMOVALS ->
                throw new IllegalStateException("served at once: " + request.operation());
            case PUT -> put(exchange, allowed(known.request("PUT", Map.of(), writing(request))),
                    TokenOperation.PUT, requireWindows(windows));
            case UPLOAD_PART -> put(exchange, allowed(known.request("PUT",
                    Map.of("partNumber", Integer.toUnsignedString(request.partNumber()),
                            "uploadId", request.uploadId()),
                    writing(request))), TokenOperation.PART, requireWindows(windows));
        }
    }

    private S3Request allowed(S3Request request) {
        services.access().require(request);
        return request;
    }

    private void get(ChannelExchange exchange, S3Request request, RemoteWindows windows) {
        ChannelGet destination = new ChannelGet(exchange, request, windows);
        if (ReadRules.isCacheable(request)) {
            new ObjectRead(services.reads(), request, destination).start();
        } else {
            destination.uncacheable();
        }
    }

    private void put(ChannelExchange exchange, S3Request request, TokenOperation kind,
            RemoteWindows windows) {
        RdmaPut upload = new RdmaPut(services.reads(), exchange, request, kind, windows,
                new ChannelPut(exchange, windows.length()));
        upload.start();
        exchange.touch();
    }

    private static RemoteWindows requireWindows(@Nullable RemoteWindows windows) {
        if (windows == null) {
            throw new IllegalStateException("only HEAD has no window");
        }
        return windows;
    }

    private static Map<String, String> version(Request request) {
        return Map.of("versionId", request.versionId());
    }

    private static Headers reading(Request request) {
        Headers.Builder headers = Headers.builder();
        switch (request.range()) {
            case RequestRange.All _ -> {
                // The whole object needs no Range header.
            }
            case RequestRange.Between(long first, long last) ->
                headers.add("range", "bytes=" + first + "-" + last);
            case RequestRange.From(long first) -> headers.add("range", "bytes=" + first + "-");
            case RequestRange.Last(long bytes) -> headers.add("range", "bytes=-" + bytes);
        }
        addIfMatch(headers, request);
        return headers.build();
    }

    private static Headers writing(Request request) {
        Headers.Builder headers = Headers.builder();
        request.headers().forEach((name, value) -> {
            if (name.startsWith("x-amz-copy-source")) {
                throw new S3Refusal(S3Error.INVALID_ARGUMENT,
                        name + " has no meaning where the body is sent.");
            }
            headers.add(name, AnswerTexts.asHeader(value));
        });
        addIfMatch(headers, request);
        return headers.build();
    }

    private static void addIfMatch(Headers.Builder headers, Request request) {
        if (!request.ifMatch().isEmpty()) {
            headers.add("if-match", AnswerTexts.asHeader(request.ifMatch()));
        }
    }

    void cancel(int id) {
        ChannelExchange exchange = outstanding.get(id);
        if (exchange != null) {
            exchange.execute(exchange::cancel);
        } else {
            removals.cancel(id);
        }
    }

    /** Answers the requests that wait for removals; they would outlast a gateway's drain. */
    void endWaits(String reason) {
        removals.endAll(reason);
    }

    void end() {
        removals.lose();
        outstanding.values().forEach(exchange -> exchange.execute(exchange::lose));
    }
}
