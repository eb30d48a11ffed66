package io.railhead.gateway.cluster;

import io.netty.handler.codec.http.HttpResponseStatus;
import io.railhead.backend.FetchTurn;
import io.railhead.backend.Headers;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.PageSource;
import io.railhead.cache.RangeReader;
import io.railhead.cache.ReadRequest;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.gateway.fill.BackendPageSource;
import io.railhead.gateway.frontdoor.OperatorPort;
import io.railhead.gateway.frontdoor.TlsPort;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.identity.Identity;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.object.read.ReadRules;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.Route;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Guard;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.ServerSSLOptions;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The port on which other members ask for pages of runs that this gateway owns. A question is
 * answered from memory, from a fill under way, or from the store, which is asked in the principal's
 * name. It is passed on to nobody but the run's owner of before, as a question for what that member
 * holds. Such a question is answered from memory alone, at once. Event loop only.
 */
public final class FillPort implements TlsPort {
    static final String PATH = "/.railhead/fill";
    /** A path of its own: a member of an older version declines it, and fetches nothing. */
    static final String HELD_PATH = "/.railhead/held";
    private static final Logger LOG = LoggerFactory.getLogger(FillPort.class);
    private static final int MAX_QUESTION_BYTES = 64 << 10;
    private static final int LEASED_PART = 8;
    private static final int FEWEST_ANSWERS = 4;

    private final Vertx vertx;
    private final OperatorPort port;
    private final CredentialStore credentials;
    private final Routes routes;
    private final ReadServices reads;
    private final PeerFills fills;
    private final Metrics metrics;
    private int answering;

    /** @param fills knows which runs this gateway waits for itself */
    public FillPort(Vertx vertx, CredentialStore credentials, Routes routes, ReadServices reads,
            PeerFills fills) {
        this.vertx = vertx;
        this.port = new OperatorPort(vertx, "cluster.tls", ClientAuth.REQUIRED);
        this.credentials = credentials;
        this.routes = routes;
        this.reads = reads;
        this.fills = fills;
        this.metrics = reads.metrics();
    }

    @Override
    public void use(ServerSSLOptions tls) {
        port.use(tls);
    }

    public Future<HttpServer> listen(String host, int number) {
        return port.listen(Guard.handler(this::handle, FillPort::thrown), host, number);
    }

    private void handle(HttpServerRequest http) {
        String length = http.getHeader("content-length");
        if (http.method().equals(HttpMethod.GET) && PATH.equals(http.path())) {
            metrics.peerAnswers.labels("greeted").inc();
            http.response().setStatusCode(HttpResponseStatus.NO_CONTENT.code()).end();
            return;
        }
        boolean isKnown = PATH.equals(http.path()) || HELD_PATH.equals(http.path());
        if (!http.method().equals(HttpMethod.POST) || !isKnown) {
            refuse(http, HttpResponseStatus.NOT_FOUND, "no such page");
        } else if (length == null || length.length() > 9
                || Integer.parseInt(length) > MAX_QUESTION_BYTES) {
            refuse(http, HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE, "no question is so long");
        } else {
            http.body()
                    .onSuccess(body -> Guard.run(() -> answer(http, body), thrown -> {
                        thrown(thrown);
                        refuse(http, HttpResponseStatus.INTERNAL_SERVER_ERROR, "failed");
                    }));
        }
    }

    private static void thrown(Throwable cause) {
        LOG.warn("a question of another gateway failed", cause);
    }

    private void refuse(HttpServerRequest http, HttpResponseStatus status, String reason) {
        metrics.peerAnswers.labels("refused").inc();
        decline(http, status, reason);
    }

    private void decline(HttpServerRequest http, HttpResponseStatus status, String reason) {
        HttpServerResponse response = http.response();
        if (response.headWritten()) {
            http.connection().close();
        } else if (!response.closed()) {
            response.setStatusCode(status.code())
                    .putHeader("content-type", "text/plain")
                    .end(reason + "\n");
        }
    }

    private void answer(HttpServerRequest http, Buffer body) {
        FillRequest asked;
        try {
            asked = FillRequest.of(body);
            requireWholePages(asked);
        } catch (IllegalArgumentException e) {
            LOG.warn("another gateway, at {}, asked: {}", http.remoteAddress(), e.getMessage());
            refuse(http, HttpResponseStatus.BAD_REQUEST, String.valueOf(e.getMessage()));
            return;
        }
        Authentication caller = caller(asked);
        S3Request request = caller == null ? null : request(asked, caller);
        if (request == null) {
            refuse(http, HttpResponseStatus.FORBIDDEN, "the principal is not the same here");
            return;
        }
        if (!isServed(asked, request)) {
            refuse(http, HttpResponseStatus.CONFLICT, "the object is not cached here as there");
            return;
        }
        ObjectVersion version = new ObjectVersion(request.objectId(), asked.etag(),
                asked.heldVersionId(), asked.sizeBytes());
        boolean wantsHeld = HELD_PATH.equals(http.path());
        if (!wantsHeld && fills.isAsking(version, asked.offset())) {
            refuse(http, HttpResponseStatus.CONFLICT, "these bytes are being asked for here, too");
            return;
        }
        if (answering >= mostAnswers()) {
            refuse(http, HttpResponseStatus.SERVICE_UNAVAILABLE, "too many are answered");
            return;
        }
        if (wantsHeld) {
            sendHeld(http, asked, version);
        } else {
            send(http, asked, request, version);
        }
    }

    /**
     * Returns how many askers may be answered at a time: each has at most a run leased, and slow
     * ones must not hold the cache's memory.
     */
    private long mostAnswers() {
        long leasable = reads.cache().control().capacityBytes() / LEASED_PART;
        return Math.max(FEWEST_ANSWERS, leasable / reads.runBytes());
    }

    private void requireWholePages(FillRequest asked) {
        long end = asked.offset() + asked.length();
        boolean whole = asked.offset() % reads.pageBytes() == 0
                && (end % reads.pageBytes() == 0 || end == asked.sizeBytes());
        boolean oneRun = asked.offset() / reads.runBytes() == (end - 1) / reads.runBytes();
        if (!whole || !oneRun) {
            throw new IllegalArgumentException("bytes are no pages of one run: [" + asked.offset()
                    + ", " + end + ")");
        }
    }

    /** Returns the principal in whose name the store is asked; null if it is not known here. */
    private @Nullable Authentication caller(FillRequest asked) {
        String key = asked.accessKey();
        if (key == null) {
            return new Authentication.Anonymous();
        }
        Identity found = credentials.find(key, asked.sessionToken());
        Identity still = found == null ? null : credentials.findAgain(found.key());
        return still == null || !still.principal().tenant().equals(asked.tenant())
                ? null
                : new Authentication.Proven(still.principal(), still.key());
    }

    private @Nullable S3Request request(FillRequest asked, Authentication caller) {
        Address address = Address.ofObject(asked.bucket(), asked.key());
        Route route = routes.route(caller, address);
        if (!route.backend().name().equals(asked.backend())) {
            return null;
        }
        String versionId = asked.versionId();
        Query query = Query.of(versionId == null ? Map.of() : Map.of("versionId", versionId));
        RequestHead head = new RequestHead("GET", "/" + asked.bucket() + "/" + address.rawKey(),
                query.rawWithoutSigning(), Headers.NONE);
        return new S3Request(head, address, query, caller,
                RequestSource.anonymous(null, true).as(caller), route);
    }

    /** Returns whether this gateway caches the object, of the store that both have compared. */
    private boolean isServed(FillRequest asked, S3Request request) {
        return ReadRules.isCacheable(request) && PeerFills.isShared(request.route().rule())
                && reads.cache().keepsNew()
                && asked.sizeBytes() <= request.route().rule().maxObject().bytes()
                && PeerFills.isOfStart(routes.table().stores().get(asked.backend()));
    }

    private void send(HttpServerRequest http, FillRequest asked, S3Request request,
            ObjectVersion version) {
        Context context = vertx.getOrCreateContext();
        answering++;
        FillAnswer answer = new FillAnswer(vertx, http.response(), metrics, () -> answering--);
        FetchTurn turn = new FetchTurn(asked.tenant(), asked.urgency());
        PageSource store = fills.previousBefore(new BackendPageSource(request.store(),
                request.caller(), request.objectTarget(), turn), request, turn);
        RangeReader reader = reads.cache()
                .readForPeer(new ReadRequest(version, asked.offset(),
                        asked.offset() + asked.length(), Pool.CACHE, asked.tenant()), store,
                        task -> context.runOnContext(_ -> Guard.run(task, answer::thrown)), answer);
        answer.begin(reader);
    }

    private void sendHeld(HttpServerRequest http, FillRequest asked, ObjectVersion version) {
        FillAnswer answer = new FillAnswer(vertx, http.response(), metrics, () -> answering--);
        HeldPages held = new HeldPages(reads.cache(), version, asked.offset(),
                asked.offset() + asked.length(), answer);
        if (held.isEmpty()) {
            metrics.peerAnswers.labels("not_held").inc();
            decline(http, HttpResponseStatus.NOT_FOUND, "not held");
            return;
        }
        answering++;
        Guard.run(() -> answer.begin(held), answer::thrown);
    }
}
