package io.railhead.gateway.channel;

import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.audit.NativeAudit;
import io.railhead.gateway.log.AccessLog;
import io.railhead.gateway.log.NativeAccess;
import io.railhead.gateway.request.RequestSource;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.rdma.session.ClientSession;

/** Writes one channel's requests into the access log and the audit stream. Any thread. */
record ChannelLog(AccessLog log, Audit audit, ClientSession session, RequestSource asker) {

    /** Returns whether the log is on; a hit builds its log line only then. */
    boolean isOn() {
        return log.isOn();
    }

    void ended(RequestOperation operation, String bucket, String key, Answer answer,
            long arrivedAtNanos) {
        if (log.isOn()) {
            new NativeAccess(session.number(), session.fabric(), asker,
                    operation, bucket, key, answer, System.nanoTime() - arrivedAtNanos)
                    .writeTo(log);
        }
        if (answer.status() >= NativeAudit.LEAST_STATUS && audit.isOn()) {
            new NativeAudit(session, asker, operation, bucket, key, answer).writeTo(audit);
        }
    }
}
