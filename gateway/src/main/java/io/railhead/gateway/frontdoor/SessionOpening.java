package io.railhead.gateway.frontdoor;

import io.railhead.gateway.auth.Authentication;
import io.railhead.gateway.auth.Identity;
import io.railhead.gateway.channel.SessionCallers;
import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.request.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Exception;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.session.Session;
import io.railhead.rdma.session.SessionKey;
import io.railhead.rdma.session.Sessions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;

/**
 * {@code POST /.railhead/sessions?fabric=loopback}, signed: opens a session. The answer is
 *
 * <pre>
 * {"session": "32 hex digits", "fabric": "loopback", "socket": "/path", "max_window": bytes, "version": 1}
 * </pre>
 *
 * and the session's key is derived on both sides from the request's own signature: see
 * {@code SessionKey}. The peer connects to the socket and proves it.
 */
public final class SessionOpening implements OwnPaths {
    private static final int VERSION = 1;
    /** A token's window has 32 bits. */
    private static final long MAX_WINDOW = 0xffff_ffffL;

    private final Sessions sessions;
    private final Fabric fabric;
    private final Path socket;
    private final SessionCallers callers;

    public SessionOpening(Sessions sessions, Fabric fabric, Path socket,
            SessionCallers callers) {
        this.sessions = sessions;
        this.fabric = fabric;
        this.socket = socket;
        this.callers = callers;
    }

    @Override
    public void handle(Exchange exchange, Authentication.Signed caller, String path, Query query) {
        if (!path.equals("sessions")) {
            throw new S3Exception(S3Error.METHOD_NOT_ALLOWED,
                    "There is nothing at " + PREFIX + path + ".");
        }
        if (!exchange.request().method().name().equals("POST") || caller.presigned()) {
            throw new S3Exception(S3Error.METHOD_NOT_ALLOWED,
                    "A session is opened by a POST with a signed header.");
        }
        if (!fabric.name().equals(query.get("fabric"))) {
            throw new S3Exception(S3Error.INVALID_ARGUMENT,
                    "fabric must be " + fabric.name() + ".");
        }
        if (!caller.principal().rdmaGet() && !caller.principal().rdmaPut()) {
            throw new S3Exception(S3Error.RDMA_NOT_PERMITTED);
        }
        if (!fabric.health().usable()) {
            throw new S3Exception(S3Error.RDMA_UNAVAILABLE, fabric.health().reason());
        }
        Session session = sessions.open(caller.principal().name(),
                id -> SessionKey.derive(caller.signingKey().reveal(), caller.signature(), id));
        if (session == null) {
            throw new S3Exception(S3Error.SLOW_DOWN, "This principal has too many RDMA sessions.");
        }
        callers.opened(session, new Identity(caller.principal(), caller.key()));
        JsonObject answer = new JsonObject().put("session", session.id())
                .put("fabric", fabric.name())
                .put("socket", socket.toString())
                .put("max_window", MAX_WINDOW)
                .put("version", VERSION);
        exchange.answer(200).putHeader("content-type", "application/json");
        exchange.end(Buffer.buffer(answer.encode()));
    }
}
