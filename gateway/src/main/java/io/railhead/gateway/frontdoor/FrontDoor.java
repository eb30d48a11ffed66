package io.railhead.gateway.frontdoor;

import io.railhead.gateway.admission.Admission;
import io.railhead.gateway.admission.TenantInFlight;
import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.http.HttpDate;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.log.AccessLog;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.operation.Router;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.railhead.gateway.s3.sigv4.SignatureMemory;
import io.vertx.core.Context;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.ContextInternal;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/**
 * Takes each request from its head to its operation. A request is parsed once, verified before any
 * lookup, and routed by rule. Event loop only; one instance serves all loops and holds no state of
 * theirs.
 */
public final class FrontDoor {
    private final RequestVerifier verifier;
    private final Admission admission;
    private final AccessControl access;
    private final Router router;
    private final OwnPaths paths;
    private final Logs logs;
    private final HttpDate date = new HttpDate(InstantSource.system());

    /** The metrics, the access log and the audit stream of requests. */
    public record Logs(Metrics metrics, AccessLog accessLog, Audit audit) {}

    public FrontDoor(RequestVerifier verifier, Admission admission, AccessControl access,
            Router router, OwnPaths paths, Logs logs) {
        this.verifier = verifier;
        this.admission = admission;
        this.access = access;
        this.router = router;
        this.paths = paths;
        this.logs = logs;
    }

    /**
     * @param verifiedRequest the result of the hit path; null if the request was not verified yet
     */
    void handle(HttpServerRequest http, Context context, FairScheduler fairScheduler,
            @Nullable VerifiedRequest verifiedRequest) {
        http.pause();
        if (HttpExchange.isBehindTheEnd(http)) {
            http.connection().close();
            return;
        }
        HttpExchange httpExchange = new HttpExchange(http, context, logs.metrics(),
                logs.accessLog(), logs.audit(), date,
                HttpExchange.newId());
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

    /** @param refusal the known problem of its head or signature; null if none is known */
    private void verify(HttpExchange httpExchange, HttpServerRequest http,
            FairScheduler fairScheduler,
            @Nullable S3Refusal refusal) {
        RequestHead head = verifier.head(http.method().name(), http.uri(), http.headers(),
                http.isSSL());
        Address address = verifier.address(head);
        DialectPath dialect = paths.dialect(head, address);
        UnsignedEndpoint sts = paths.stsOf(head, address);
        if (sts != null) {
            enter(httpExchange, new Authentication.Anonymous(), fairScheduler,
                    () -> sts.handle(httpExchange, head));
        } else if (paths.isInternal(head, address)) {
            own(httpExchange, head, fairScheduler);
        } else if (dialect != null) {
            httpExchange.describe("Pairing", head.rawPath());
            Authentication caller = verifier.authenticate(head, Query.require(head.rawQuery()),
                    new SignatureMemory());
            enter(httpExchange, caller, fairScheduler,
                    () -> dialect.handle(httpExchange, head, caller));
        } else {
            Query query = Query.require(head.rawQuery());
            named(httpExchange, head, address, query);
            if (refusal != null) {
                throw refusal;
            }
            admit(httpExchange, verifier.verified(head, address, query, httpExchange.peer(),
                    new SignatureMemory()), fairScheduler);
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

    private void enter(HttpExchange httpExchange, Authentication caller,
            FairScheduler fairScheduler, Runnable request) {
        TenantInFlight tenantInFlight = httpExchange.enter(admission, caller);
        if (fairScheduler.isFree()) {
            request.run();
        } else {
            logs.metrics().waited.inc();
            ContextInternal here = ContextInternal.current();
            fairScheduler.await(tenantInFlight,
                    () -> here.dispatch(() -> httpExchange.goOn(request)));
        }
    }

    private void route(HttpExchange httpExchange, S3Request request) {
        httpExchange.asks(request);
        Router.Match match = router.match(request);
        httpExchange.describe(match.name(), request.head().rawPath());
        access.require(request);
        match.operation().handle(httpExchange, request);
    }

    private void own(HttpExchange httpExchange, RequestHead head, FairScheduler fairScheduler) {
        httpExchange.describe("Own", head.rawPath());
        String name = head.rawPath().substring(InternalEndpoint.PREFIX.length());
        UnsignedEndpoint unsigned = paths.unsigned().get(name);
        if (unsigned != null) {
            unsigned.handle(httpExchange, head);
            return;
        }
        Query query = Query.require(head.rawQuery());
        Authentication authentication = verifier.requireSignature(head, query);
        if (!(authentication instanceof Authentication.Signed signed)) {
            throw new S3Refusal(S3Error.ACCESS_DENIED,
                    "Requests below " + InternalEndpoint.PREFIX
                            + " must be signed, and the gateway must verify signatures.");
        }
        enter(httpExchange, authentication, fairScheduler,
                () -> paths.requireSigned(name).handle(httpExchange, signed, query));
    }
}
