package io.railhead.gateway.channel;

import io.railhead.gateway.identity.Identity;
import io.railhead.gateway.request.RequestSource;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.PeerSession;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The access keys by which sessions were opened, as long as the sessions last. Any thread. */
public final class SessionCallers {
    private final Map<ClientSession, Caller> callers = new ConcurrentHashMap<>();

    /** The identity that opened a session, and the address of its request. */
    public record Caller(Identity identity, RequestSource asker) {}

    /** Registers a session that was opened by this caller's signed request. */
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
