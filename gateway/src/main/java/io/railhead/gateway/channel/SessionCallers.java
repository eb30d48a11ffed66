package io.railhead.gateway.channel;

import io.railhead.gateway.identity.Identity;
import io.railhead.gateway.request.RequestSource;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.PeerSession;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** By which access key each session was opened, for as long as it lasts. Any thread. */
public final class SessionCallers {
    private final Map<ClientSession, Caller> callers = new ConcurrentHashMap<>();

    /** Who opened a session, and from where. */
    public record Caller(Identity identity, RequestSource asker) {}

    /** The session was opened by a request that this caller signed. */
    public void opened(ClientSession clientSession, Caller caller) {
        callers.put(clientSession, caller);
        if (clientSession instanceof PeerSession peer) {
            peer.onEnd(() -> callers.remove(clientSession));
        }
    }

    @Nullable
    Caller find(ClientSession clientSession) {
        return callers.get(clientSession);
    }
}
