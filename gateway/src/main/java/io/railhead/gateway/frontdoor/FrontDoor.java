package io.railhead.gateway.frontdoor;

import io.railhead.backend.Headers;
import io.railhead.gateway.admission.Admission;
import io.railhead.gateway.admission.Permit;
import io.railhead.gateway.admission.TenantQuota;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.http.HttpDate;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.log.AccessLog;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.object.read.HitLookup;
import io.railhead.gateway.operation.Router;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.RequestTarget;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestAuthenticator;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.vertx.core.Context;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.ContextInternal;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes each request from its head to its operation: read once, verified before anything is looked
 * up, routed by rule. Event loop only; one instance serves all loops and holds no state of theirs.
 */
public final class FrontDoor {
    private static final Set<String> METHODS = Set.of("GET", "HEAD", "PUT", "POST", "DELETE",
            "PATCH", "OPTIONS");

    private final RequestAuthenticator authenticator;
    private final Admission admission;
    private final AccessControl access;
    private final Routes routes;
    private final Router router;
    private final Map<String, InternalEndpoint> ownPaths;
    private final Map<String, UnsignedPath> unsignedPaths;
    private final Map<String, DialectPath> dialectPaths;
    private final List<String> domains;
    private final InstantSource clock;
    private final Metrics metrics;
    private final AccessLog accessLog;
    private final HitLookup hitLookup;
    private final HttpDate date = new HttpDate(InstantSource.system());

    /**
     * @param ownPaths by what follows the prefix, as {@code unsignedPaths} are
     * @param dialectPaths by their raw paths
     */
    public FrontDoor(RequestAuthenticator authenticator, Admission admission,
            AccessControl access,
            Routes routes, Router router,
            Map<String, InternalEndpoint> ownPaths, Map<String, UnsignedPath> unsignedPaths,
            Map<String, DialectPath> dialectPaths,
            List<String> domains, InstantSource clock, Metrics metrics,
            AccessLog accessLog, HitLookup hitLookup) {
        this.authenticator = authenticator;
        this.admission = admission;
        this.access = access;
        this.routes = routes;
        this.router = router;
        this.ownPaths = Map.copyOf(ownPaths);
        this.unsignedPaths = Map.copyOf(unsignedPaths);
        this.dialectPaths = Map.copyOf(dialectPaths);
        this.domains = domains;
        this.clock = clock;
        this.metrics = metrics;
        this.accessLog = accessLog;
        this.hitLookup = hitLookup;
    }

    /**
     * Those of one event loop, which it finds for itself.
     *
     * @param standingAside while all is Vert.x's to answer
     */
    HttpHitHandler hits(FairScheduler fairScheduler, BooleanSupplier standingAside) {
        return new HttpHitHandler(this, hitLookup, fairScheduler, standingAside, metrics, accessLog,
                date);
    }

    /** @param verifiedRequest what came of {@link #verify}; null where that was not asked */
    void handle(HttpServerRequest http, Context context, FairScheduler fairScheduler,
            @Nullable VerifiedRequest verifiedRequest) {
        http.pause();
        if (HttpExchange.isBehindTheEnd(http)) {
            http.connection().close();
            return;
        }
        HttpExchange httpExchange = new HttpExchange(http, context, metrics, accessLog, date,
                RequestIds.next());
        httpExchange.attempt(() -> admit(httpExchange, http, fairScheduler, verifiedRequest));
    }

    private void admit(HttpExchange httpExchange, HttpServerRequest http,
            FairScheduler fairScheduler,
            @Nullable VerifiedRequest verifiedRequest) {
        FramingCheck.require(httpExchange);
        S3Request verified = verifiedRequest == null ? null : verifiedRequest.request();
        if (verified == null) {
            verify(httpExchange, http, fairScheduler,
                    verifiedRequest == null ? null : verifiedRequest.refusal());
        } else {
            named(httpExchange, verified.head(), verified.address(), verified.query());
            admit(httpExchange, verified, fairScheduler);
        }
    }

    /** @param refusal of its head or its signature, where either is known to be wrong */
    private void verify(HttpExchange httpExchange, HttpServerRequest http,
            FairScheduler fairScheduler,
            @Nullable S3Refusal refusal) {
        RequestHead head = head(http.method().name(), http.uri(), http.headers(), http.isSSL());
        Address address = address(head);
        DialectPath dialect = dialect(head, address);
        if (InternalEndpoint.isIn(head.rawPath(), address)) {
            own(httpExchange, head, fairScheduler);
        } else if (dialect != null) {
            httpExchange.describe("Pairing", head.rawPath());
            Authentication caller = authenticate(head, Query.require(head.rawQuery()));
            enter(httpExchange, caller, fairScheduler,
                    () -> dialect.handle(httpExchange, head, caller));
        } else {
            Query query = Query.require(head.rawQuery());
            named(httpExchange, head, address, query);
            if (refusal != null) {
                throw refusal;
            }
            admit(httpExchange, verified(head, address, query, httpExchange.peer()), fairScheduler);
        }
    }

    private static void named(HttpExchange httpExchange, RequestHead head, Address address,
            Query query) {
        httpExchange.addresses(address, query);
        httpExchange.describe("unauthenticated", head.rawPath());
    }

    private void admit(HttpExchange httpExchange, S3Request request, FairScheduler fairScheduler) {
        enter(httpExchange, request.authentication(), fairScheduler,
                () -> route(httpExchange, request));
    }

    /**
     * Who asks for what, of a request that goes to a store; null for all others.
     *
     * @param peer who sent it, by address alone
     * @throws S3Refusal where something is wrong with it, which {@link #handle} says
     */
    @Nullable
    S3Request verify(String method, String uri,
            Iterable<Map.Entry<String, String>> fields, RequestSource peer) {
        RequestHead head = head(method, uri, fields, peer.secure());
        Address address = address(head);
        return InternalEndpoint.isIn(head.rawPath(), address) || dialect(head, address) != null
                ? null
                : verified(head, address, Query.require(head.rawQuery()), peer);
    }

    /** None where the host names the bucket: that path is a key. */
    private @Nullable DialectPath dialect(RequestHead head, Address address) {
        DialectPath dialect = dialectPaths.get(head.rawPath());
        return dialect != null && head.rawPath().startsWith("/" + address.bucket() + "/")
                ? dialect
                : null;
    }

    private S3Request verified(RequestHead head, Address address, Query query, RequestSource peer) {
        Authentication authentication = authenticate(head, query);
        return new S3Request(head, address, query, authentication,
                peer.as(authentication.principalName()), routes.route(authentication, address));
    }

    /** Its answer, where that takes nothing but a moment; null for all others. */
    @Nullable
    PlannedHit findHit(S3Request request) {
        ReadPlan plan = hitLookup.find(request, PlannedHit.MOST_BYTES);
        if (plan == null) {
            return null;
        }
        TenantQuota tenantQuota = admission.share(request.authentication(), request.asker());
        Permit permit = admission.tryEnter(tenantQuota, plan.length());
        return permit == null ? null : new PlannedHit(request, plan, permit);
    }

    private void enter(HttpExchange httpExchange, Authentication caller,
            FairScheduler fairScheduler, Runnable request) {
        TenantQuota tenantQuota = httpExchange.enter(admission, caller);
        if (fairScheduler.isFree()) {
            request.run();
        } else {
            metrics.waited.inc();
            ContextInternal here = ContextInternal.current();
            fairScheduler.await(tenantQuota, () -> here.dispatch(() -> httpExchange.goOn(request)));
        }
    }

    private void route(HttpExchange httpExchange, S3Request request) {
        httpExchange.asks(request);
        Router.Match match = router.match(request);
        httpExchange.describe(match.name(), request.head().rawPath());
        access.require(request);
        match.operation().handle(httpExchange, request);
    }

    private Authentication authenticate(RequestHead head, Query query) {
        return head.method().equals("OPTIONS")
                ? preflight(head, query)
                : authenticator.authenticate(head, query, clock.instant());
    }

    /**
     * A browser's preflight goes to the URL of the request that it is about, which may be
     * presigned: then it is its signer's, whose buckets the store may find by that alone. It says
     * nothing else of who asks: where the signature does not hold, as it cannot where it covers
     * headers, it is nobody's.
     */
    private Authentication preflight(RequestHead head, Query query) {
        String about = head.headers().get("access-control-request-method");
        if (about == null || head.headers().contains("authorization")) {
            return new Authentication.Anonymous();
        }
        try {
            return authenticator.authenticate(head.withMethod(about), query, clock.instant());
        } catch (S3Refusal e) {
            return new Authentication.Anonymous();
        }
    }

    private void own(HttpExchange httpExchange, RequestHead head, FairScheduler fairScheduler) {
        httpExchange.describe("Own", head.rawPath());
        String name = head.rawPath().substring(InternalEndpoint.PREFIX.length());
        UnsignedPath unsigned = unsignedPaths.get(name);
        if (unsigned != null) {
            unsigned.handle(httpExchange, head);
            return;
        }
        Query query = Query.require(head.rawQuery());
        Authentication authentication = authenticator.authenticate(head, query, clock.instant());
        if (!(authentication instanceof Authentication.Signed signed)) {
            throw new S3Refusal(S3Error.ACCESS_DENIED,
                    "Requests below " + InternalEndpoint.PREFIX
                            + " must be signed, and the gateway must verify signatures.");
        }
        enter(httpExchange, authentication, fairScheduler,
                () -> InternalEndpoint.require(ownPaths, name)
                        .handle(httpExchange, signed, query));
    }

    /** @param secure whether it came over TLS */
    private RequestHead head(String method, String uri,
            Iterable<Map.Entry<String, String>> fields, boolean secure) {
        if (!METHODS.contains(method)) {
            throw new S3Refusal(S3Error.METHOD_NOT_ALLOWED);
        }
        RequestTarget target = target(uri, secure);
        String path = target.pathAndQuery();
        int mark = path.indexOf('?');
        Headers.Builder headers = Headers.builder();
        fields.forEach(field -> headers.add(field.getKey(), field.getValue()));
        RequestHead head = new RequestHead(method, mark < 0 ? path : path.substring(0, mark),
                mark < 0 ? null : path.substring(mark + 1), headers.build());
        return target.authority() == null ? head : withHost(head, target.authority());
    }

    private static RequestTarget target(String uri, boolean secure) {
        try {
            return RequestTarget.parse(uri, secure);
        } catch (IllegalArgumentException e) {
            throw new S3Refusal(S3Error.INVALID_URI, "Couldn't parse the specified URI.");
        }
    }

    /**
     * RFC 9112 §3.2.2: the target's authority stands for whatever the Host field says. A client may
     * have signed that field, which counts only where both name the same bucket.
     */
    private RequestHead withHost(RequestHead head, String authority) {
        String field = head.headers().get("host");
        boolean other = field != null && !field.equals(authority)
                && Objects.equals(Address.bucketOf(field, domains),
                        Address.bucketOf(authority, domains));
        return new RequestHead(head.method(), head.rawPath(), head.rawQuery(),
                head.headers().toBuilder().set("host", authority).build(), other ? field : null);
    }

    private Address address(RequestHead head) {
        try {
            Address address = Address.of(head.rawPath(), head.headers().get("host"), domains);
            String bucket = address.bucket();
            if (bucket != null && !Address.isBucketName(bucket)) {
                throw new S3Refusal(S3Error.INVALID_BUCKET_NAME);
            }
            return address;
        } catch (IllegalArgumentException e) {
            throw new S3Refusal(S3Error.INVALID_URI, "Couldn't parse the specified URI.");
        }
    }
}
