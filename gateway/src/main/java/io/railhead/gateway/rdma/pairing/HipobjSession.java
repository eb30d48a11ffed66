package io.railhead.gateway.rdma.pairing;

import io.railhead.gateway.http.HttpExchange;
import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.pairing.PairedSession;
import java.util.concurrent.atomic.AtomicBoolean;

/** One transfer of hipobj's between its two requests. Any thread. */
final class HipobjSession {
    private final PairedSession pairedSession;
    private final HipobjTarget target;
    private final AtomicBoolean ready = new AtomicBoolean();

    HipobjSession(PairedSession pairedSession, HipobjTarget target) {
        this.pairedSession = pairedSession;
        this.target = target;
    }

    PairedSession pair() {
        return pairedSession;
    }

    HipobjTarget target() {
        return target;
    }

    /**
     * Once: a session is for one transfer. Whatever this exchange is answered, the session ends
     * before its client hears of it; and where nobody hears.
     */
    boolean tryReady(HttpExchange httpExchange) {
        if (!ready.compareAndSet(false, true)) {
            return false;
        }
        pairedSession.hold();
        httpExchange.onClosed(this::end);
        httpExchange.request().response().headersEndHandler(_ -> end());
        return true;
    }

    /** The answer leaves it open: the caller ends it later. */
    void outlive(HttpExchange httpExchange) {
        httpExchange.request().response().headersEndHandler(null);
    }

    void end() {
        pairedSession.end(EndReason.PEER_GONE);
    }
}
