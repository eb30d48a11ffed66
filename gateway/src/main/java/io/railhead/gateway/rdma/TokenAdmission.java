package io.railhead.gateway.rdma;

import io.railhead.gateway.authorization.ReplayGuard;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.request.PeerConnection;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.protocol.token.Decline;
import io.railhead.protocol.token.Dialect;
import io.railhead.protocol.token.Dialects;
import io.railhead.protocol.token.Recognition;
import io.railhead.protocol.token.Token;
import io.railhead.protocol.token.TokenOperation;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.pairing.PairedWindows;
import io.railhead.rdma.session.ClientSessions;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Admits tokens. A token names a client's memory, so its sender must have signed it just now and
 * must own its session. No other sender may repeat it. Any thread.
 */
public final class TokenAdmission {
    private final ClientSessions clientSessions;
    private final Fabric fabric;
    private final PairedWindows paired;
    private final DcTokens targets;
    private final ReplayGuard replayGuard;
    private final Dialects dialects;
    private final Metrics metrics;

    public TokenAdmission(ClientSessions clientSessions, Fabric fabric, PairedWindows paired,
            DcTokens targets,
            ReplayGuard replayGuard, Dialects dialects, Metrics metrics) {
        this.clientSessions = clientSessions;
        this.fabric = fabric;
        this.paired = paired;
        this.targets = targets;
        this.replayGuard = replayGuard;
        this.dialects = dialects;
        this.metrics = metrics;
    }

    /** The decision about a request's token. */
    public sealed interface Admission {}

    /** The request has no token. */
    public record NoToken() implements Admission {}

    /** The client's memory may be used. */
    public record Admitted(RemoteBuffer buffer, Dialect dialect) implements Admission {}

    /** The token is declined, and the request goes on over HTTP. */
    public record Inline(String reason) implements Admission {}

    /** The token is declined or refused with an error. */
    public record Refused(S3Refusal error) implements Admission {}

    public Admission admit(S3Request request,
            TokenOperation tokenOperation,
            PeerConnection connection) {
        if (!request.headers().anyName(Dialects::isHeader)) {
            return new NoToken();
        }
        return switch (dialects.recognise(tokenOperation, request::header)) {
            case Recognition.None _ -> new NoToken();
            case Recognition.Malformed(var _, var message) -> refuse("malformed",
                    new S3Refusal(S3Error.INVALID_RDMA_TOKEN, message));
            case Recognition.Declined(var dialect, var reason) -> decline(
                    dialect.decline(tokenOperation), reason);
            case Recognition.Accepted(var dialect, var headers, var token) -> admit(request,
                    tokenOperation, connection,
                    offer(request, dialect, headers, token, connection.address()));
            case Recognition.Paired(var dialect, var headers, var token) -> admit(request,
                    tokenOperation, connection, Offer.ofSession(dialect, headers,
                            () -> paired.resolve(request.principal(), token)));
        };
    }

    /**
     * A token in terms of its dialect.
     *
     * @param obstacle why no token of its kind is served now, or null; evaluated last
     * @param window returns the memory that the token names, once the caller is known; throws
     *            TransferException or S3Refusal
     * @param ifDown the decline's reason if the memory cannot be reached now
     */
    private record Offer(Dialect dialect, List<String> headers,
            Supplier<@Nullable String> obstacle, Function<Principal, RemoteBuffer> window,
            String ifDown) {

        /** Returns the offer of registered memory, or of a paired queue pair. */
        static Offer ofSession(Dialect dialect, List<String> headers,
                Supplier<RemoteBuffer> window) {
            return new Offer(dialect, headers, () -> null, _ -> window.get(), "fabric");
        }
    }

    private Offer offer(S3Request request, Dialect dialect, List<String> headers, Token token,
            @Nullable InetAddress peer) {
        return token.isLoopback()
                ? Offer.ofSession(dialect, headers, () -> registered(request, token))
                // An absent fabric is reported as the obstacle, so an unreachable target means a
                // busy one.
                : new Offer(dialect, headers, () -> targetObstacle(request),
                        principal -> targets.resolve(principal, token, peer), "busy");
    }

    /**
     * Returns the obstacle of a DC token. A target may be older than the gateway, and so may a
     * recorded request: after a start such requests are declined until replays are excluded.
     */
    private @Nullable String targetObstacle(S3Request request) {
        String obstacle = targets.findObstacle();
        return obstacle == null
                && request.authentication() instanceof Authentication.Signed signed
                && replayGuard.mayPrecedeStart(signed) ? "starting" : obstacle;
    }

    private RemoteBuffer registered(S3Request request, Token token) {
        return clientSessions.resolve(request.principal(), token.session(), token.address(),
                token.length(), token.key());
    }

    private Admission admit(S3Request request,
            TokenOperation tokenOperation,
            PeerConnection connection, Offer offer) {
        if (request.authentication() instanceof Authentication.Named) {
            return decline(offer.dialect().decline(tokenOperation), "authentication");
        }
        if (!(request.authentication() instanceof Authentication.Signed signed)
                || signed.presigned()
                || !signed.signedHeaders().containsAll(offer.headers())) {
            return refuse(new S3Refusal(S3Error.RDMA_TOKEN_NOT_SIGNED,
                    "The RDMA token must be signed, by an Authorization header: "
                            + String.join(", ", offer.headers()) + "."));
        }
        return switch (replayGuard.judge(signed, connection)) {
            case ReplayGuard.Refused(var error) -> refuse(error);
            case ReplayGuard.First _ -> admit(request, signed, tokenOperation, offer);
            case ReplayGuard.Repeated _ -> {
                metrics.rdmaRepeats.inc();
                yield admit(request, signed, tokenOperation, offer);
            }
        };
    }

    private Admission admit(S3Request request, Authentication.Signed signed,
            TokenOperation tokenOperation, Offer offer) {
        String unusable = unusable(request, signed.principal(), tokenOperation);
        if (unusable == null) {
            unusable = offer.obstacle().get();
        }
        if (unusable != null) {
            return decline(offer.dialect().decline(tokenOperation), unusable);
        }
        try {
            RemoteBuffer buffer = offer.window().apply(signed.principal());
            return fabric.health(buffer.session()).usable()
                    ? new Admitted(buffer, offer.dialect())
                    : decline(offer.dialect().decline(tokenOperation), offer.ifDown());
        } catch (TransferException e) {
            if (e.reason() == TransferException.Reason.UNAVAILABLE) {
                return decline(offer.dialect().decline(tokenOperation), "fabric");
            }
            return refuse(e.reason().name().toLowerCase(Locale.ROOT), RdmaErrors.of(e));
        } catch (S3Refusal e) {
            return refuse("foreign_address", e);
        }
    }

    /** Returns why this principal's request is not served by RDMA now; null if it is. */
    private @Nullable String unusable(S3Request request, Principal principal,
            TokenOperation tokenOperation) {
        boolean allowed = tokenOperation == TokenOperation.GET
                ? principal.rdmaGet()
                : principal.rdmaPut();
        if (!allowed) {
            return "permission";
        }
        if (!request.route().rule().rdma()) {
            return "rule";
        }
        if (clientSessions.isSuspended(request.principal())) {
            return "suspended";
        }
        return fabric.health().usable() ? null : "fabric";
    }

    private Admission decline(Decline form, String reason) {
        metrics.rdmaDeclined.labels(reason).inc();
        return switch (form) {
            case Decline.ServeInline _ -> new Inline(reason);
            case Decline.Answer answer -> new Refused(RdmaErrors.declined(answer, reason));
        };
    }

    private Admission refuse(S3Refusal error) {
        return refuse(error.error().code(), error);
    }

    private Admission refuse(String reason, S3Refusal error) {
        metrics.rdmaRefused.labels(reason).inc();
        return new Refused(error);
    }
}
