package io.railhead.gateway.pairing;

import io.railhead.rdma.pairing.Pair;
import io.railhead.rdma.session.EndReason;
import java.util.concurrent.atomic.AtomicBoolean;

/** One transfer of hipobj's between its two requests. Any thread. */
final class HipobjSession {
    private final Pair pair;
    private final HipobjTarget target;
    private final AtomicBoolean ready = new AtomicBoolean();

    HipobjSession(Pair pair, HipobjTarget target) {
        this.pair = pair;
        this.target = target;
    }

    Pair pair() {
        return pair;
    }

    HipobjTarget target() {
        return target;
    }

    /** Once: a session is for one transfer. */
    boolean tryReady() {
        return ready.compareAndSet(false, true);
    }

    void end() {
        pair.end(EndReason.PEER_GONE);
    }
}
