package io.railhead.gateway.rdma.pairing;

import io.railhead.backend.Headers;
import io.railhead.gateway.authorization.PeerAddresses;
import io.railhead.gateway.authorization.ReplayGuard;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.rdma.RdmaErrors;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.railhead.os.adapter.GidBytes;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.pairing.Pairing;
import io.railhead.rdma.pairing.PairingException;
import io.railhead.rdma.session.ClientSessions;
import java.net.InetAddress;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Admits queue pairs. The caller must have signed all RDMA fields just now, in a request that is no
 * replay. The queue pair must be at the caller's own address, or at one on the principal's list.
 * Any thread; every refusal and decline is counted with its reason.
 */
public final class PairingAdmission {
    private static final String RDMA_HEADERS = "x-amz-rdma-";

    private final Fabric fabric;
    private final ClientSessions clientSessions;
    private final ReplayGuard replayGuard;
    private final Supplier<@Nullable String> reasonAgainst;
    private final Metrics metrics;

    /**
     * @param fabric the fabric that pairs queue pairs
     * @param replayGuard the guard of pairing requests
     * @param reasonAgainst why sessions are not allowed now; null if they are
     */
    public PairingAdmission(Fabric fabric, ClientSessions clientSessions, ReplayGuard replayGuard,
            Supplier<@Nullable String> reasonAgainst, Metrics metrics) {
        this.fabric = fabric;
        this.clientSessions = clientSessions;
        this.replayGuard = replayGuard;
        this.reasonAgainst = reasonAgainst;
        this.metrics = metrics;
    }

    /** Returns the caller. Throws {@code S3Refusal} in the dialect's own form. */
    Authentication.Signed requireCaller(PairingDialect dialect, HttpExchange httpExchange,
            RequestHead head, Authentication authentication) {
        if (!head.method().equals("POST")) {
            throw new S3Refusal(S3Error.METHOD_NOT_ALLOWED, "Queue pairs are paired by POST.");
        }
        switch (authentication) {
            case Authentication.Signed _,Authentication.Anonymous _ -> {
                // Checked below.
            }
            case Authentication.Named _,Authentication.PassedThrough _,Authentication.Proven _ ->
                throw decline(dialect, "authentication");
        }
        if (!(authentication instanceof Authentication.Signed signed) || signed.presigned()
                || head.headers().anyName(name -> isUnsigned(name, signed))) {
            throw refuse("unsigned", new S3Refusal(S3Error.RDMA_TOKEN_NOT_SIGNED,
                    "A request that pairs a queue pair must sign all of its x-amz-rdma-* headers,"
                            + " with an Authorization header."));
        }
        if (replayGuard.judgeOnce(signed,
                httpExchange.connection()) instanceof ReplayGuard.Refused(var error)) {
            throw refuse(error.error() == S3Error.RDMA_TOKEN_STALE ? "stale" : "replayed", error);
        }
        return signed;
    }

    private static boolean isUnsigned(String header, Authentication.Signed signed) {
        String name = header.toLowerCase(Locale.ROOT);
        return name.startsWith(RDMA_HEADERS) && !signed.signedHeaders().contains(name);
    }

    /**
     * Returns the pairing that serves this caller now; throws in the dialect's form if there is
     * none.
     */
    Pairing requirePairing(PairingDialect dialect, Principal caller) {
        String reason = reasonAgainst.get();
        if (reason != null) {
            throw refuse("cleartext", new S3Refusal(S3Error.RDMA_UNAVAILABLE, reason));
        }
        if (clientSessions.isSuspended(caller.name())) {
            throw decline(dialect, "suspended");
        }
        Pairing pairing = fabric.health().usable() ? fabric.pairing().orElse(null) : null;
        if (pairing == null) {
            throw decline(dialect, "fabric");
        }
        return pairing;
    }

    void requireAddress(Principal caller, InetAddress gid, HttpExchange httpExchange) {
        if (!PeerAddresses.allow(caller, GidBytes.of(gid),
                PeerAddresses.of(httpExchange.request().remoteAddress()))) {
            throw refuse("foreign_address", new S3Refusal(S3Error.RDMA_FOREIGN_ADDRESS));
        }
    }

    S3Refusal decline(PairingDialect dialect, String reason) {
        metrics.rdmaDeclined.labels(reason).inc();
        return dialect.declined(reason);
    }

    S3Refusal refuse(String reason, S3Refusal error) {
        metrics.rdmaRefused.labels(reason).inc();
        return error;
    }

    /** Returns the refusal of a malformed header. */
    S3Refusal malformed(String message) {
        return refuse("malformed", new S3Refusal(S3Error.INVALID_RDMA_TOKEN, message));
    }

    void count(PairingDialect dialect, String result) {
        metrics.rdmaRequests.labels(dialect.label(), result).inc();
    }

    /** Converts a failure to pair or to find a session. */
    S3Refusal error(PairingDialect dialect, Throwable failure) {
        Throwable cause = failure instanceof CompletionException && failure.getCause() != null
                ? failure.getCause()
                : failure;
        return switch (cause) {
            case PairingException pairing -> switch (pairing.reason()) {
                case TOO_MANY_SESSIONS -> refuse("sessions",
                        new S3Refusal(S3Error.SLOW_DOWN, String.valueOf(pairing.getMessage())));
                case NO_ROOM -> refuse("room", new S3Refusal(S3Error.RDMA_UNAVAILABLE,
                        String.valueOf(pairing.getMessage())));
                case NO_ROUTE -> decline(dialect, "route");
                case NO_STAGING -> decline(dialect, "staging");
                case UNAVAILABLE -> decline(dialect, "fabric");
            };
            case TransferException transfer ->
                refuse(transfer.reason().name().toLowerCase(Locale.ROOT), RdmaErrors.of(transfer));
            default -> RdmaErrors.of(cause);
        };
    }

    /** Returns a header's value; throws if it is missing. */
    String require(Headers headers, String name) {
        String value = headers.get(name);
        if (value == null) {
            throw malformed(name + " is missing.");
        }
        return value.strip();
    }
}
