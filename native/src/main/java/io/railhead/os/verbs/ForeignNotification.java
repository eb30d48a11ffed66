package io.railhead.os.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;

/** DiSNI's request for a notification: created once, executed repeatedly without allocation. */
final class ForeignNotification extends SVCReqNotify {
    private final Foreign.CompletionQueue queue;
    private final int solicitedOnly;
    private boolean isValid = true;

    ForeignNotification(IbvCQ queue, int solicitedOnly) {
        this.queue = Foreign.completionQueue(queue);
        this.solicitedOnly = solicitedOnly;
    }

    @Override
    public SVCReqNotify execute() throws IOException {
        int errno = queue.requestNotification(solicitedOnly);
        if (errno != 0) {
            throw new VerbsException("ibv_req_notify_cq", errno);
        }
        return this;
    }

    @Override
    public boolean isValid() {
        return isValid;
    }

    @Override
    public SVCReqNotify free() {
        isValid = false;
        return this;
    }
}
