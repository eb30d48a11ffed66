package io.railhead.gateway.rdma.pairing;

import io.railhead.gateway.http.HttpExchange;
import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.pairing.PairedSession;
import java.util.concurrent.atomic.AtomicBoolean;

/** One hipobj transfer between its two requests. Any thread. */
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
     * Starts the session's one transfer; false if it has started already. The session ends before
     * the response's head is sent, or when the client disconnects.
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

    /** Keeps the session open beyond the response; the caller must end it later. */
    void outlive(HttpExchange httpExchange) {
        httpExchange.request().response().headersEndHandler(null);
    }

    void end() {
        pairedSession.end(EndReason.PEER_GONE);
    }
}
