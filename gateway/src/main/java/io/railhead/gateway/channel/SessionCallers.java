package io.railhead.gateway.channel;

import io.railhead.gateway.auth.Identity;
import io.railhead.gateway.request.Asker;
import io.railhead.rdma.session.PeerSession;
import io.railhead.rdma.session.Session;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** By which access key each session was opened, for as long as it lasts. Any thread. */
public final class SessionCallers {
    private final Map<Session, Caller> callers = new ConcurrentHashMap<>();

    /** Who opened a session, and from where. */
    public record Caller(Identity identity, Asker asker) {}

    /** The session was opened by a request that this caller signed. */
    public void opened(Session session, Caller caller) {
        callers.put(session, caller);
        if (session instanceof PeerSession peer) {
            peer.onEnd(() -> callers.remove(session));
        }
    }

    @Nullable
    Caller find(Session session) {
        return callers.get(session);
    }
}
