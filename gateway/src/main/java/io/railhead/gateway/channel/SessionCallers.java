package io.railhead.gateway.channel;

import io.railhead.gateway.auth.Identity;
import io.railhead.rdma.session.PeerSession;
import io.railhead.rdma.session.Session;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** By which access key each session was opened, for as long as it lasts. Any thread. */
public final class SessionCallers {
    private final Map<Session, Identity> callers = new ConcurrentHashMap<>();

    /** The session was opened by a request that this caller signed. */
    public void opened(Session session, Identity caller) {
        callers.put(session, caller);
        if (session instanceof PeerSession peer) {
            peer.onEnd(() -> callers.remove(session));
        }
    }

    @Nullable
    Identity find(Session session) {
        return callers.get(session);
    }
}
