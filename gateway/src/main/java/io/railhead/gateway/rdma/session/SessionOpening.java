package io.railhead.gateway.rdma.session;

import io.railhead.gateway.channel.SessionCallers;
import io.railhead.gateway.frontdoor.InternalEndpoint;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.identity.Identity;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.protocol.message.SessionKey;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.ClientSessions;
import io.vertx.core.json.JsonObject;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@code POST /.railhead/sessions?fabric=loopback|verbs}, signed: opens a session. The response is
 * the fabric's entry in {@link FabricDirectory}, and the session's id:
 *
 * <pre>
 * {"fabric": "loopback", "usable": true, "socket": "/path", LIMITS, "session": "32 hex digits"}
 * </pre>
 *
 * The session's key is derived on both sides from the request's own signature: see
 * {@code SessionKey}. The peer connects and proves that it holds the key.
 *
 * <p> With {@code &shared=true} the session is for what all gateways of a cluster serve alike:
 * every request for a cache-only bucket is declined, since each gateway has its own.
 *
 * <p> {@code POST /.railhead/sessions?renew=ID}, signed by newer credentials of the principal that
 * opened the session: the session lasts as long as these. The response is <code>{"session":
 * ID}</code>.
 */
public final class SessionOpening implements InternalEndpoint {
    private final ClientSessions clientSessions;
    private final FabricDirectory fabricDirectory;
    private final SessionCallers callers;
    private final Supplier<@Nullable String> reasonAgainst;

    /**
     * @param callers learns the access key of each session
     * @param reasonAgainst why no session may be opened now; null if one may
     */
    public SessionOpening(ClientSessions clientSessions, FabricDirectory fabricDirectory,
            SessionCallers callers,
            Supplier<@Nullable String> reasonAgainst) {
        this.reasonAgainst = reasonAgainst;
        this.clientSessions = clientSessions;
        this.fabricDirectory = fabricDirectory;
        this.callers = callers;
    }

    @Override
    public void handle(HttpExchange httpExchange, Authentication.Signed caller, Query query) {
        if (!httpExchange.request().method().name().equals("POST") || caller.presigned()) {
            throw new S3Refusal(S3Error.METHOD_NOT_ALLOWED,
                    "A session is opened by a POST with a signed header.");
        }
        String renewed = query.get("renew");
        if (renewed != null) {
            renew(httpExchange, caller, renewed);
        } else {
            open(httpExchange, caller, query);
        }
    }

    /** Another principal's attempt counts as an access error, as one to use its memory does. */
    private void renew(HttpExchange httpExchange, Authentication.Signed caller, String id) {
        SessionCallers.Caller opener = callers.find(id);
        if (opener != null && !opener.isOf(caller.principal())) {
            clientSessions.accessError(caller.principal().name());
            throw new S3Refusal(S3Error.RDMA_FOREIGN_SESSION);
        }
        if (opener == null
                || !callers.tryRenew(id, callerOf(httpExchange, caller, opener.sharedOnly()))) {
            throw new S3Refusal(S3Error.RDMA_UNKNOWN_SESSION);
        }
        httpExchange.opens(id);
        InternalEndpoint.answer(httpExchange, new JsonObject().put("session", id));
    }

    private static SessionCallers.Caller callerOf(HttpExchange httpExchange,
            Authentication.Signed caller, boolean sharedOnly) {
        return new SessionCallers.Caller(new Identity(caller.principal(), caller.key()),
                httpExchange.asker(caller), sharedOnly);
    }

    private void open(HttpExchange httpExchange, Authentication.Signed caller, Query query) {
        FabricAddress fabricAddress = fabricDirectory.find(query.get("fabric"))
                .orElseThrow(() -> new S3Refusal(S3Error.INVALID_ARGUMENT,
                        "fabric must be one of " + String.join(", ", fabricDirectory.fabrics())
                                + "."));
        if (!caller.principal().rdmaGet() && !caller.principal().rdmaPut()) {
            throw new S3Refusal(S3Error.RDMA_NOT_PERMITTED);
        }
        Fabric fabric = fabricAddress.fabric();
        if (!fabric.health().usable()) {
            throw new S3Refusal(S3Error.RDMA_UNAVAILABLE,
                    fabric.name() + ": " + fabric.health().reason());
        }
        if (clientSessions.isSuspended(caller.principal().name())) {
            throw new S3Refusal(S3Error.RDMA_UNAVAILABLE,
                    "RDMA of this principal is suspended after repeated access errors.");
        }
        String reason = reasonAgainst.get();
        if (reason != null) {
            throw new S3Refusal(S3Error.RDMA_UNAVAILABLE, reason);
        }
        ClientSession clientSession = clientSessions.open(caller.principal().name(), fabric.name(),
                id -> SessionKey.derive(caller.signingKey().reveal(), caller.signature(), id));
        if (clientSession == null) {
            throw new S3Refusal(S3Error.SLOW_DOWN, "This principal has too many RDMA sessions.");
        }
        callers.opened(clientSession,
                callerOf(httpExchange, caller, query.get("shared") != null));
        httpExchange.opens(clientSession.id());
        InternalEndpoint.answer(httpExchange,
                fabricAddress.toJson().put("session", clientSession.id()));
    }
}
