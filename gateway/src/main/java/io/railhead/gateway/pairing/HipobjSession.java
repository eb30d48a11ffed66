package io.railhead.gateway.pairing;

import io.railhead.gateway.http.Exchange;
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

    /**
     * Once: a session is for one transfer. Whatever this exchange is answered, the session ends
     * before its client hears of it; and where nobody hears.
     */
    boolean tryReady(Exchange exchange) {
        if (!ready.compareAndSet(false, true)) {
            return false;
        }
        pair.hold();
        exchange.onClosed(this::end);
        exchange.request().response().headersEndHandler(_ -> end());
        return true;
    }

    /** The answer leaves it open: the caller ends it later. */
    void outlive(Exchange exchange) {
        exchange.request().response().headersEndHandler(null);
    }

    void end() {
        pair.end(EndReason.PEER_GONE);
    }
}
