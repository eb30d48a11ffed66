package io.railhead.gateway.audit;

import io.railhead.gateway.audit.AuditKind.Activity;
import io.railhead.gateway.log.HttpAccess;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.sigv4.Authentication;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the audit event in the end of an HTTP request. Most requests have none. Details of errors
 * stay out, since they may quote what the client sent.
 *
 * @param address null until the path was parsed
 * @param caller null until the caller was authenticated
 * @param code the error's code; "" if there is none
 * @param byGateway whether the gateway made the error, and not the store
 * @param opened the id of the RDMA session that the request opened; "" for none
 */
public record HttpAudit(HttpAccess.Talk http, String requestId, @Nullable Address address,
        @Nullable Query query, @Nullable Authentication caller, String code, boolean byGateway,
        HttpAccess.@Nullable Rdma rdma, String opened) {
    private static final int BAD_REQUEST = 400;
    private static final int UNAUTHORIZED = 401;
    private static final int FORBIDDEN = 403;
    private static final int SERVER_ERROR = 500;
    private static final String SESSIONS = "RAILHEAD.POST.SESSIONS";
    /** Errors of a request whose sender is not who it says to be, or does not say it well. */
    private static final Set<String> OF_LOGINS = Stream
            .of(S3Error.INVALID_ACCESS_KEY_ID, S3Error.SIGNATURE_DOES_NOT_MATCH,
                    S3Error.REQUEST_TIME_TOO_SKEWED, S3Error.EXPIRED_TOKEN, S3Error.INVALID_TOKEN,
                    S3Error.AUTHORIZATION_HEADER_MALFORMED,
                    S3Error.AUTHORIZATION_QUERY_PARAMETERS_ERROR)
            .map(S3Error::code)
            .collect(Collectors.toUnmodifiableSet());

    /** Records the request's event, if it has one. */
    public void writeTo(Audit audit) {
        AuditEvent event = findEvent();
        if (event != null) {
            audit.record(described(event));
        }
    }

    private @Nullable AuditEvent findEvent() {
        int status = http.status();
        if (status < BAD_REQUEST) {
            return accepted();
        }
        boolean isDenied = status == UNAUTHORIZED || status == FORBIDDEN;
        if (OF_LOGINS.contains(code) || (isDenied && caller == null)) {
            return AuditEvent.refused(AuditKind.LOGIN_REFUSED, code,
                    "the sender was not authenticated").claiming(Claim.of(http::header, query));
        }
        if (isRdma(status)) {
            return AuditEvent.refused(AuditKind.RDMA_REFUSED, code,
                    "RDMA was refused");
        }
        return isDenied
                ? AuditEvent.refused(AuditKind.ACCESS_DENIED, code, byGateway
                        ? "denied by the gateway's policy"
                        : "denied by the store").doing(activity())
                : null;
    }

    private @Nullable AuditEvent accepted() {
        if (!opened.isEmpty()) {
            return AuditEvent.accepted(AuditKind.RDMA_OPENED, "an RDMA session was opened")
                    .inSession(opened);
        }
        return rdma == null
                ? null
                : AuditEvent.accepted(AuditKind.RDMA_TOKEN,
                        "bytes were moved by an RDMA token over " + rdma.fabric());
    }

    private boolean isRdma(int status) {
        return SESSIONS.equals(operation())
                || (status < SERVER_ERROR && code.toUpperCase(Locale.ROOT).contains("RDMA"));
    }

    private String operation() {
        return HttpAccess.operation(http, address, query);
    }

    private int activity() {
        return switch (http.method()) {
            case "GET", "HEAD" -> Activity.READ;
            case "PUT", "POST" -> Activity.CREATE;
            case "DELETE" -> Activity.DELETE;
            default -> Activity.OTHER;
        };
    }

    private AuditEvent described(AuditEvent event) {
        AuditEvent described = event.by(caller == null ? "" : caller.principalName(),
                caller == null ? "" : caller.tenant(), http.peer())
                .as(caller == null ? "" : RequestSource.sessionId(caller))
                .asking(operation(), requestId);
        if (address == null || address.bucket() == null) {
            return described;
        }
        return address.rawKey().isEmpty()
                ? described.on("bucket", address.bucket())
                : described.on("object", address.bucket() + "/" + withoutQuery(address.rawKey()));
    }

    /**
     * Returns a key without a query that was encoded as a part of it: a presigned URL that was
     * encoded twice has its signature there.
     */
    private static String withoutQuery(String rawKey) {
        String lower = rawKey.toLowerCase(Locale.ROOT);
        int mark = lower.indexOf("%3f");
        boolean isSigned = mark >= 0
                && (lower.indexOf("signature", mark) >= 0 || lower.indexOf("token", mark) >= 0);
        return isSigned ? rawKey.substring(0, mark) + "%3F****" : rawKey;
    }
}
