package io.railhead.gateway.channel;

import io.railhead.gateway.audit.NativeAudit;
import io.railhead.gateway.log.NativeAccess;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.tracing.NativeSpan;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.rdma.session.ClientSession;

/**
 * Writes one channel's requests into the access log, the audit stream and traces. Any thread.
 */
record ChannelLog(ChannelLogs logs, ClientSession session, RequestSource asker) {

    /** Returns whether every request is written; a hit builds its line only then. */
    boolean isOn() {
        return logs.access().isOn() || logs.tracing().isOn();
    }

    void ended(RequestOperation operation, String bucket, String key, Answer answer,
            long arrivedAtNanos) {
        long nanos = System.nanoTime() - arrivedAtNanos;
        if (logs.access().isOn()) {
            new NativeAccess(session.number(), session.fabric(), asker, operation, bucket, key,
                    answer, nanos).writeTo(logs.access());
        }
        if (logs.tracing().isOn()) {
            logs.tracing()
                    .ended(new NativeSpan(operation.name(), bucket, key, session.fabric(),
                            Answer.requestId(session.number(), answer.id()), answer.status(),
                            answer.code(), nanos));
        }
        if (answer.status() >= NativeAudit.LEAST_STATUS && logs.audit().isOn()) {
            new NativeAudit(session, asker, operation, bucket, key, answer)
                    .writeTo(logs.audit());
        }
    }
}
