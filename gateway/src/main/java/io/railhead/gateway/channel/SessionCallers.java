package io.railhead.gateway.channel;

import io.railhead.gateway.identity.Identity;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.request.RequestSource;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.PeerSession;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The access keys by which sessions were opened or last renewed, as long as the sessions last. Any
 * thread.
 */
public final class SessionCallers {
    /** By session id. */
    private final Map<String, Caller> callers = new ConcurrentHashMap<>();

    /**
     * The identity that opened or renewed a session, and the address of its request.
     *
     * @param sharedOnly whether the session is for what all gateways of a cluster serve alike
     */
    public record Caller(Identity identity, RequestSource asker, boolean sharedOnly) {

        /** Returns whether the principal is the same, with whichever of its keys. */
        public boolean isOf(Principal principal) {
            Principal own = identity.principal();
            return own.name().equals(principal.name()) && own.tenant().equals(principal.tenant());
        }
    }

    /** Registers a session that was opened by this caller's signed request. */
    public void opened(ClientSession clientSession, Caller caller) {
        String id = clientSession.id();
        callers.put(id, caller);
        if (clientSession instanceof PeerSession peer) {
            peer.onEnd(() -> callers.remove(id));
        }
    }

    /**
     * Registers newer credentials of the same principal. The session uses them once the older ones
     * are over. Returns false if the session has ended.
     */
    public boolean tryRenew(String id, Caller caller) {
        return callers.computeIfPresent(id, (_, _) -> caller) != null;
    }

    /** Returns who opened or last renewed the session of this id; null if there is none. */
    public @Nullable Caller find(String id) {
        return callers.get(id);
    }
}
