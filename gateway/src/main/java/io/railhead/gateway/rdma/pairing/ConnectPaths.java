package io.railhead.gateway.rdma.pairing;

import io.railhead.backend.Headers;
import io.railhead.gateway.authorization.PeerAddresses;
import io.railhead.gateway.frontdoor.DialectPath;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.railhead.protocol.message.EndReason;
import io.railhead.protocol.token.Hex;
import io.railhead.rdma.pairing.PairRequest;
import io.railhead.rdma.pairing.PairedSession;
import io.railhead.rdma.pairing.Pairing;
import io.railhead.rdma.pairing.RcDescriptor;
import io.vertx.core.http.HttpServerResponse;
import java.util.Map;

/**
 * The two paths of the connect dialect. A queue pair is paired first; later requests then carry an
 * {@code rc:} token. Event loop only.
 */
public final class ConnectPaths {
    private static final PairingDialect DIALECT = PairingDialect.CONNECT;
    private static final String TOKEN = "x-amz-rdma-token";
    private static final String PSN = "x-amz-rdma-psn";
    private static final String SESSION = "x-amz-rdma-session";
    private static final int OK = 200;

    private final boolean isServed;
    private final PairingAdmission admission;

    /** @param isServed false if every request is declined */
    public ConnectPaths(boolean isServed, PairingAdmission admission) {
        this.isServed = isServed;
        this.admission = admission;
    }

    /** Returns the handlers by their raw paths. */
    public Map<String, DialectPath> table() {
        return Map.of("/.s3rdma-rc/connect", this::connect, "/.s3rdma-rc/disconnect",
                this::disconnect);
    }

    private void connect(HttpExchange httpExchange, RequestHead head,
            Authentication authentication) {
        Authentication.Signed caller = caller(httpExchange, head, authentication);
        Pairing pairing = admission.requirePairing(DIALECT, caller.principal());
        if (!caller.principal().rdmaGet() && !caller.principal().rdmaPut()) {
            throw admission.refuse("permission", new S3Refusal(S3Error.RDMA_NOT_PERMITTED));
        }
        PairRequest request = request(httpExchange, head.headers(), caller);
        admission.requireAddress(caller.principal(), request.peer().gid(), httpExchange);
        pairing.pair(request)
                .whenComplete((pairedSession, failure) -> httpExchange.executor().execute(() -> {
                    if (failure != null) {
                        httpExchange.fail(admission.error(DIALECT, failure));
                    } else {
                        connected(httpExchange, pairedSession);
                    }
                }));
    }

    private Authentication.Signed caller(HttpExchange httpExchange, RequestHead head,
            Authentication authentication) {
        if (!isServed) {
            throw admission.decline(DIALECT, "dialect");
        }
        return admission.requireCaller(DIALECT, httpExchange, head, authentication);
    }

    private PairRequest request(HttpExchange httpExchange, Headers headers,
            Authentication.Signed caller) {
        String token = admission.require(headers, TOKEN);
        String psn = admission.require(headers, PSN);
        try {
            return new PairRequest(caller.principal().name(),
                    RcDescriptor.parse(token).end(Hex.psn(psn)),
                    PeerAddresses.of(httpExchange.request().localAddress()), null);
        } catch (IllegalArgumentException e) {
            throw admission.malformed(TOKEN + " or " + PSN + ": " + e.getMessage() + ".");
        }
    }

    private void connected(HttpExchange httpExchange, PairedSession pairedSession) {
        if (httpExchange.isOver()) {
            pairedSession.end(EndReason.PEER_GONE);
            return;
        }
        admission.count(DIALECT, "connected");
        httpExchange.opens(pairedSession.session().id());
        HttpServerResponse response = httpExchange.answer(OK);
        response.putHeader(SESSION, pairedSession.session().id());
        response.putHeader("x-amz-rdma-reply",
                "200:" + RcDescriptor.of(pairedSession.own(), pairedSession.portNumber()).format());
        response.putHeader(PSN, Hex.psn(pairedSession.own().packetSequence()));
        response.putHeader("content-length", "0");
        response.end();
    }

    private void disconnect(HttpExchange httpExchange, RequestHead head,
            Authentication authentication) {
        Authentication.Signed caller = caller(httpExchange, head, authentication);
        Pairing pairing = admission.requirePairing(DIALECT, caller.principal());
        String id = admission.require(head.headers(), SESSION);
        try {
            pairing.require(caller.principal().name(), id).end(EndReason.PEER_GONE);
        } catch (RuntimeException | Error e) {
            throw admission.error(DIALECT, e);
        }
        admission.count(DIALECT, "disconnected");
        httpExchange.answer(OK).putHeader("content-length", "0").end();
    }
}
