package io.railhead.os.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCDeregMr;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCRegMr;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** DiSNI's stateful calls: made once, executed again and again without allocation, freed once. */
final class ForeignCalls {
    private ForeignCalls() {}

    static final class Register extends SVCRegMr {
        private final ForeignVerbs verbs;
        private final IbvPd domain;
        private final long address;
        private final long bytes;
        private final int access;
        private @Nullable IbvMr registration;
        private boolean isValid = true;

        Register(ForeignVerbs verbs, IbvPd domain, long address, long bytes, int access) {
            this.verbs = verbs;
            this.domain = domain;
            this.address = address;
            this.bytes = bytes;
            this.access = access;
        }

        @Override
        public SVCRegMr execute() throws IOException {
            registration = verbs.register(domain, address, bytes, access);
            return this;
        }

        @Override
        public @Nullable IbvMr getMr() {
            return registration;
        }

        @Override
        public boolean isValid() {
            return isValid;
        }

        @Override
        public SVCRegMr free() {
            isValid = false;
            return this;
        }
    }

    static final class Deregister extends SVCDeregMr {
        private final ForeignVerbs verbs;
        private final IbvMr registration;
        private boolean isValid = true;

        Deregister(ForeignVerbs verbs, IbvMr registration) {
            this.verbs = verbs;
            this.registration = registration;
        }

        @Override
        public SVCDeregMr execute() throws IOException {
            verbs.deregister(registration);
            return this;
        }

        @Override
        public boolean isValid() {
            return isValid;
        }

        @Override
        public SVCDeregMr free() {
            isValid = false;
            return this;
        }
    }

    static final class PostReceive extends SVCPostRecv {
        private final IbvQP queuePair;
        private final List<IbvRecvWR> requests;
        private final PreparedReceives prepared;
        private boolean isValid = true;

        PostReceive(IbvQP queuePair, List<IbvRecvWR> requests) {
            this.queuePair = queuePair;
            this.requests = List.copyOf(requests);
            int entries = 1;
            for (IbvRecvWR request : requests) {
                entries = Math.max(entries, request.getSg_list().size());
            }
            prepared = new PreparedReceives(requests.size(), entries);
            for (IbvRecvWR request : requests) {
                prepared.add(request.getWr_id());
                for (IbvSge entry : request.getSg_list()) {
                    prepared.entry(entry.getAddr(), entry.getLength(), entry.getLkey());
                }
            }
        }

        @Override
        public SVCPostRecv execute() throws IOException {
            prepared.post(queuePair);
            if (prepared.refusal() != 0) {
                throw new VerbsException("ibv_post_recv", prepared.refusal());
            }
            return this;
        }

        @Override
        public RecvWRMod getWrMod(int index) {
            return requests.get(index)::getWr_id;
        }

        @Override
        public boolean isValid() {
            return isValid;
        }

        @Override
        public SVCPostRecv free() {
            if (isValid) {
                isValid = false;
                prepared.close();
            }
            return this;
        }
    }

    static final class Poll extends SVCPollCq {
        private final IbvCQ queue;
        private final IbvWC[] target;
        private final Completions completions;
        private boolean isValid = true;

        Poll(IbvCQ queue, IbvWC[] target, int count) {
            this.queue = queue;
            this.target = target;
            completions = new Completions(Math.min(count, target.length));
        }

        @Override
        public SVCPollCq execute() {
            completions.poll(queue);
            for (int i = 0; i < completions.size(); i++) {
                completions.copyTo(target[i], i);
            }
            return this;
        }

        @Override
        public int getPolls() {
            return completions.size();
        }

        @Override
        public boolean isValid() {
            return isValid;
        }

        @Override
        public SVCPollCq free() {
            if (isValid) {
                isValid = false;
                completions.close();
            }
            return this;
        }
    }

    static final class RequestNotification extends SVCReqNotify {
        private final Foreign.CompletionQueue queue;
        private final int solicitedOnly;
        private boolean isValid = true;

        RequestNotification(IbvCQ queue, int solicitedOnly) {
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
}
