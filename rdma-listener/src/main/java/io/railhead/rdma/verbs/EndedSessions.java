package io.railhead.rdma.verbs;

import io.railhead.rdma.channel.Ended;
import io.railhead.rdma.session.PeerSession;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sessions whose connection broke, for a while: an error takes the queue pair with it, so the peer
 * could not be told why, and asks by connecting again. Any thread.
 */
final class EndedSessions {
    private static final int MOST = 1024;

    /** A session that is over, and what its peer is to hear. */
    record Entry(PeerSession session, Ended ended) {}

    private record Kept(Entry entry, long untilNanos) {}

    private final long keepNanos;
    private final LongSupplier nanoClock;
    /** By session id, in the order in which they are forgotten. */
    private final Map<String, Kept> kept = new LinkedHashMap<>();

    EndedSessions(long keepNanos, LongSupplier nanoClock) {
        this.keepNanos = keepNanos;
        this.nanoClock = nanoClock;
    }

    synchronized void remember(PeerSession session, Ended ended) {
        forgetOld();
        if (kept.size() == MOST) {
            kept.remove(kept.keySet().iterator().next());
        }
        kept.put(session.id(),
                new Kept(new Entry(session, ended), nanoClock.getAsLong() + keepNanos));
    }

    synchronized @Nullable Entry find(String sessionId) {
        forgetOld();
        Kept found = kept.get(sessionId);
        return found == null ? null : found.entry;
    }

    /** Its peer has heard. */
    synchronized void forget(PeerSession session) {
        kept.remove(session.id());
    }

    private void forgetOld() {
        long now = nanoClock.getAsLong();
        kept.values().removeIf(one -> now - one.untilNanos >= 0);
    }
}
