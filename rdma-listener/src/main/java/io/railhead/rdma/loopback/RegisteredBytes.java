package io.railhead.rdma.loopback;

import io.railhead.rdma.FabricCounts;
import io.railhead.rdma.session.ClientSession;
import java.util.HashMap;
import java.util.Map;

/**
 * The bytes of peers' memory that are mapped here, limited for each session and for each principal.
 * Bytes count until they are unmapped, so that a client cannot exceed the limit by reconnecting.
 * Any thread.
 */
final class RegisteredBytes {
    private final long maxPerSession;
    private final long maxPerPrincipal;
    private final FabricCounts counts;
    private final Map<String, Long> sessions = new HashMap<>();
    private final Map<String, Long> principals = new HashMap<>();

    RegisteredBytes(long maxPerSession, long maxPerPrincipal, FabricCounts counts) {
        this.maxPerSession = maxPerSession;
        this.maxPerPrincipal = maxPerPrincipal;
        this.counts = counts;
    }

    /** Counts the bytes, unless either limit forbids them. */
    synchronized boolean tryTake(ClientSession clientSession, long bytes) {
        long inSession = sessions.getOrDefault(clientSession.id(), 0L);
        long ofPrincipal = principals.getOrDefault(clientSession.principal(), 0L);
        if (bytes > maxPerSession - inSession || bytes > maxPerPrincipal - ofPrincipal) {
            return false;
        }
        sessions.put(clientSession.id(), inSession + bytes);
        principals.put(clientSession.principal(), ofPrincipal + bytes);
        counts.registered(bytes);
        return true;
    }

    synchronized void giveBack(ClientSession clientSession, long bytes) {
        subtract(sessions, clientSession.id(), bytes);
        subtract(principals, clientSession.principal(), bytes);
        counts.registered(-bytes);
    }

    /** Removes owners that hold nothing more. */
    private static void subtract(Map<String, Long> held, String owner, long bytes) {
        held.computeIfPresent(owner, (_, now) -> now == bytes ? null : now - bytes);
    }
}
