package io.railhead.gateway.audit;

import io.railhead.gateway.audit.AuditKind.Activity;
import io.railhead.gateway.request.RequestSource;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.rdma.session.ClientSession;
import java.net.InetAddress;

/** Finds the audit event in the end of a native request: a denial, or refused RDMA. */
public record NativeAudit(ClientSession session, RequestSource asker, RequestOperation operation,
        String bucket, String key, Answer answer) {
    /** Requests that end below this status have no event. */
    public static final int LEAST_STATUS = 400;
    private static final int UNAUTHORIZED = 401;
    private static final int FORBIDDEN = 403;
    private static final int SERVER_ERROR = 500;

    public void writeTo(Audit audit) {
        boolean isRdma = answer.code().startsWith("RDMA") && answer.status() < SERVER_ERROR;
        if (isRdma) {
            audit.record(described(AuditEvent.refused(AuditKind.RDMA_REFUSED, answer.code(),
                    "RDMA was refused")));
        } else if (answer.status() == UNAUTHORIZED || answer.status() == FORBIDDEN) {
            audit.record(described(AuditEvent.refused(AuditKind.ACCESS_DENIED, answer.code(),
                    "denied by the gateway's policy or the store").doing(activity())));
        }
    }

    private int activity() {
        return switch (operation) {
            case PUT, UPLOAD_PART -> Activity.CREATE;
            case DELETE, DELETE_PREFIX -> Activity.DELETE;
            case GET, HEAD, EXISTS, PREFIX, LEASE, TOUCH, USAGE, REMOVALS -> Activity.READ;
        };
    }

    private AuditEvent described(AuditEvent event) {
        InetAddress source = asker.source();
        return event
                .by(asker.principal(), asker.tenant(),
                        source == null ? null : source.getHostAddress())
                .as(asker.sessionId())
                .inSession(session.id())
                .asking("NATIVE." + operation.name(), Answer.requestId(session.number(),
                        answer.id()))
                .on("object", bucket + "/" + key);
    }
}
