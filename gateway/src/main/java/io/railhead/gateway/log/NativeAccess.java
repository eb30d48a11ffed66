package io.railhead.gateway.log;

import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.RequestSource;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.RequestOperation;
import java.net.InetAddress;
import java.time.Instant;
import java.util.Locale;

/**
 * Writes one native request into the access log; fields of HTTP only are dashes.
 *
 * @param session the number of its session
 */
public record NativeAccess(int session, String fabric, RequestSource asker,
        RequestOperation operation,
        String bucket, String key, Answer answer, long totalNanos) {

    public void writeTo(AccessLog log) {
        AccessLine line = new AccessLine();
        InetAddress source = asker.source();
        line.none().field(bucket).time(Instant.now().minusNanos(totalNanos));
        line.field(source == null ? null : source.getHostAddress());
        line.field(asker.principal());
        line.field(Answer.requestId(session, answer.id()));
        line.field("NATIVE." + verb()).field(Address.ofObject(bucket, key).rawKey()).quoted(null);
        boolean isServed = answer.status() != 0;
        line.field(isServed ? Integer.toString(answer.status()) : null);
        line.field(isServed ? answer.code() : null);
        line.none().bytes(answer.objectSize()).number(totalNanos / 1_000_000).none();
        line.quoted(null).quoted(null).field(answer.versionId());
        line.none().none().none().none().none().none().none().none();
        line.extra("role_session", asker.sessionId());
        if (answer.cache() != AnswerOrigin.NONE) {
            line.extra("cache", answer.cache().name().toLowerCase(Locale.ROOT));
        }
        line.extra("transport", fabric);
        line.extra("rdma_bytes", Long.toString(answer.bytesMoved()));
        line.extra("declined", isServed ? null : answer.code());
        line.extra("us", Long.toString(totalNanos / 1000));
        log.write(line);
    }

    private String verb() {
        return switch (operation) {
            case GET -> "GET.OBJECT";
            case HEAD -> "HEAD.OBJECT";
            case PUT -> "PUT.OBJECT";
            case UPLOAD_PART -> "PUT.PART";
            case EXISTS, PREFIX, DELETE, DELETE_PREFIX, LEASE, TOUCH, USAGE, REMOVALS ->
                operation.name() + ".OBJECTS";
        };
    }
}
