package io.railhead.gateway.rdma.pairing;

import io.railhead.gateway.authorization.PeerAddresses;
import io.railhead.gateway.frontdoor.DialectPath;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.object.read.ObjectRead;
import io.railhead.gateway.object.read.ReadRules;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.railhead.protocol.message.EndReason;
import io.railhead.protocol.token.Hex;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.pairing.PairRequest;
import io.railhead.rdma.pairing.PairedSession;
import io.railhead.rdma.pairing.Pairing;
import io.railhead.rdma.pairing.RcDescriptor;
import io.railhead.rdma.session.PeerSession;
import io.vertx.core.http.HttpServerResponse;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The paths of hipobj-rc-v2: PREPARE pairs a queue pair for one transfer, READY runs the transfer,
 * CANCEL abandons it. Event loop only; all loops share the table of prepared transfers.
 */
public final class HipobjPaths {
    /** Multipart uploads are supported. */
    static final String CAPABILITIES = "mp";
    private static final PairingDialect DIALECT = PairingDialect.HIPOBJ;
    private static final int OK = 200;
    private static final int NO_CONTENT = 204;
    private static final int CONFLICT = 409;

    private final boolean isServed;
    private final PairingAdmission admission;
    private final HipobjSite site;
    private final Map<String, HipobjSession> prepared = new ConcurrentHashMap<>();

    /** @param isServed false if every request is declined */
    public HipobjPaths(boolean isServed, PairingAdmission admission, HipobjSite site) {
        this.isServed = isServed;
        this.admission = admission;
        this.site = site;
    }

    /** Returns the handlers by their raw paths. */
    public Map<String, DialectPath> table() {
        return Map.of("/.hipobj-rc/prepare", this::prepare, "/.hipobj-rc/ready", this::ready,
                "/.hipobj-rc/cancel", this::cancel);
    }

    private Authentication.Signed caller(HttpExchange httpExchange, RequestHead head,
            Authentication authentication) {
        if (!isServed || !HipobjHeaders.isSpoken(head.headers())) {
            throw admission.decline(DIALECT, "dialect");
        }
        return admission.requireCaller(DIALECT, httpExchange, head, authentication);
    }

    private void prepare(HttpExchange httpExchange, RequestHead head,
            Authentication authentication) {
        Authentication.Signed caller = caller(httpExchange, head, authentication);
        Pairing pairing = admission.requirePairing(DIALECT, caller.principal());
        HipobjTarget target;
        try {
            target = HipobjTarget.of(HipobjHeaders.prepare(head.headers()));
        } catch (IllegalArgumentException e) {
            throw admission.malformed(e.getMessage() + ".");
        }
        S3Request request = allowed(httpExchange, target, caller);
        admission.requireAddress(caller.principal(), target.asked().descriptor().gid(),
                httpExchange);
        PairRequest asked = new PairRequest(caller.principal().name(),
                target.asked().descriptor().end(target.asked().psn()),
                PeerAddresses.of(httpExchange.request().localAddress()), staging(target));
        if (target.asked().isPut()) {
            pair(httpExchange, pairing, asked, target);
            return;
        }
        // A client that is ready waits for bytes only, so errors must be reported before pairing.
        HipobjRead destination = new HipobjRead(admission, httpExchange, request,
                (_, _, _) -> pair(httpExchange, pairing, asked, target));
        if (ReadRules.isCacheable(request)) {
            new ObjectRead(site.reads(), request, destination).start();
        } else {
            destination.uncacheable();
        }
    }

    private static PairRequest.@org.jspecify.annotations.Nullable Staging staging(
            HipobjTarget target) {
        return target.asked().isPut()
                ? new PairRequest.Staging(target.asked().bytes(), target.asked().cookie())
                : null;
    }

    /**
     * Returns the S3 request that the headers describe, after checking that the caller may make it
     * by RDMA.
     */
    private S3Request allowed(HttpExchange httpExchange, HipobjTarget target,
            Authentication.Signed caller) {
        S3Request request = target.request(site, httpExchange, caller);
        httpExchange.addresses(target.address(), target.query());
        httpExchange.asks(request);
        boolean permitted = target.asked().isPut()
                ? caller.principal().rdmaPut()
                : caller.principal().rdmaGet();
        if (!permitted) {
            throw admission.decline(DIALECT, "permission");
        }
        if (!request.route().rule().rdma()) {
            throw admission.decline(DIALECT, "rule");
        }
        site.access().require(request);
        return request;
    }

    private void pair(HttpExchange httpExchange, Pairing pairing, PairRequest asked,
            HipobjTarget target) {
        pairing.pair(asked)
                .whenComplete((pairedSession, failure) -> httpExchange.executor().execute(() -> {
                    if (failure != null) {
                        httpExchange.fail(admission.error(DIALECT, failure));
                    } else if (httpExchange.isOver()) {
                        pairedSession.end(EndReason.PEER_GONE);
                    } else {
                        prepared(httpExchange, pairedSession, target);
                    }
                }));
    }

    private void prepared(HttpExchange httpExchange, PairedSession pairedSession,
            HipobjTarget target) {
        String id = pairedSession.session().id();
        prepared.put(id, new HipobjSession(pairedSession, target));
        ((PeerSession) pairedSession.session()).onEnd(() -> prepared.remove(id));
        admission.count(DIALECT, "prepared");
        httpExchange.opens(id);
        HttpServerResponse response = httpExchange.answer(OK);
        response.putHeader(HipobjHeaders.PROTOCOL, HipobjHeaders.PROTOCOL_NAME);
        response.putHeader("x-amz-rdma-capabilities", CAPABILITIES);
        response.putHeader("x-amz-rdma-reply",
                "200:" + RcDescriptor.of(pairedSession.own(), pairedSession.portNumber()).format());
        response.putHeader(HipobjHeaders.SESSION, id);
        response.putHeader(HipobjHeaders.PSN, Hex.psn(pairedSession.own().packetSequence()));
        response.putHeader(HipobjHeaders.QPN, Integer.toHexString(pairedSession.own().number()));
        pairedSession.staging().ifPresent(staging -> {
            response.putHeader(HipobjHeaders.MR_ADDRESS, Long.toHexString(staging.address()));
            response.putHeader(HipobjHeaders.MR_KEY, Integer.toHexString(staging.key()));
        });
        response.putHeader("content-length", "0");
        response.end();
    }

    private void ready(HttpExchange httpExchange, RequestHead head, Authentication authentication) {
        Authentication.Signed caller = caller(httpExchange, head, authentication);
        Pairing pairing = admission.requirePairing(DIALECT, caller.principal());
        HipobjHeaders.Ready ready;
        try {
            ready = HipobjHeaders.ready(head.headers());
        } catch (IllegalArgumentException e) {
            throw admission.malformed(e.getMessage() + ".");
        }
        HipobjSession session = require(pairing, caller, ready.session());
        if (ready.cookie() != session.target().asked().cookie()) {
            throw admission.malformed("another cookie than was prepared.");
        }
        S3Request request = allowed(httpExchange, session.target(), caller);
        if (!session.tryReady(httpExchange)) {
            throw admission.refuse("conflict", new S3Refusal(S3Error.INVALID_REQUEST,
                    "This session's transfer has begun.").withStatus(CONFLICT));
        }
        httpExchange.moves(session.target().asked().bytes());
        HipobjReady transfer = new HipobjReady(admission, site, httpExchange, session, request);
        if (session.target().asked().isPut()) {
            transfer.put(session.pair().staging().orElseThrow());
        } else {
            transfer.get(window(session, ready));
        }
    }

    private RemoteBuffer window(HipobjSession session, HipobjHeaders.Ready ready) {
        try {
            return HipobjReady.window(session, ready);
        } catch (TransferException e) {
            throw admission.error(DIALECT, e);
        }
    }

    /** Returns the caller's own session; another caller's is answered like an unknown one. */
    private HipobjSession require(Pairing pairing, Authentication.Signed caller, String id) {
        try {
            PairedSession pairedSession = pairing.require(caller.principal().name(), id);
            HipobjSession session = prepared.get(pairedSession.session().id());
            if (session == null) {
                throw new TransferException(Reason.UNKNOWN_SESSION, "no session " + id);
            }
            return session;
        } catch (TransferException e) {
            throw admission.error(DIALECT, e);
        }
    }

    /** Cancels a transfer; one that is over already counts as cancelled. */
    private void cancel(HttpExchange httpExchange, RequestHead head,
            Authentication authentication) {
        Authentication.Signed caller = caller(httpExchange, head, authentication);
        String id;
        try {
            id = HipobjHeaders.session(head.headers());
        } catch (IllegalArgumentException e) {
            throw admission.malformed(e.getMessage() + ".");
        }
        HipobjSession session = prepared.get(id);
        if (session != null && session.pair()
                .session()
                .principal()
                .equals(caller.principal().name())) {
            session.end();
        }
        admission.count(DIALECT, "cancelled");
        httpExchange.answer(NO_CONTENT)
                .putHeader(HipobjHeaders.PROTOCOL, HipobjHeaders.PROTOCOL_NAME)
                .end();
    }
}
