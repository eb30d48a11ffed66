package io.railhead.rdma.verbs;

import static java.util.Objects.requireNonNull;

import io.railhead.cache.memory.PageSlice;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.Message.Refused;
import io.railhead.protocol.message.Message.Register;
import io.railhead.protocol.message.Message.Registered;
import io.railhead.protocol.message.Refusal;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.session.PeerSession;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The buffers that the peer of one connection registered. Its poller only. */
final class VerbsRegions {
    private static final Logger log = LoggerFactory.getLogger(VerbsRegions.class);

    private final VerbsPeers peers;
    private final VerbsConnection connection;
    private final Set<VerbsRegion> regions = new HashSet<>();

    VerbsRegions(VerbsPeers peers, VerbsConnection connection) {
        this.peers = peers;
        this.connection = connection;
    }

    private PeerSession session() {
        return connection.session();
    }

    /** Returns the response to REGISTER. */
    Message register(Register asked) {
        long last = asked.baseAddress() + asked.length() - 1;
        if (session().regions() >= peers.config().maxBuffers()) {
            return refused(Refusal.TOO_MANY_BUFFERS);
        }
        if (asked.length() < 1 || Long.compareUnsigned(last, asked.baseAddress()) < 0) {
            return refused(Refusal.BAD_LENGTH);
        }
        VerbsRegion region = new VerbsRegion(connection, asked.baseAddress(), asked.length(),
                asked.remoteKey());
        int key = session().tryRegister(region, peers.random());
        if (key == 0) {
            return refused(Refusal.UNKNOWN_SESSION);
        }
        regions.add(region);
        peers.counts().registered(region.length());
        return new Registered(key);
    }

    private Message refused(Refusal refusal) {
        log.warn("verbs session {} buffer refused: {}", session().label(), refusal);
        peers.counts().refused(refusal);
        return new Refused(refusal);
    }

    /** Removes a buffer that nothing touches any more. */
    void forget(VerbsRegion region) {
        if (regions.remove(region)) {
            peers.counts().registered(-region.length());
        }
    }

    void forgetAll() {
        regions.forEach(region -> peers.counts().registered(-region.length()));
        regions.clear();
    }

    /** Returns in a word why the slices may not be written there; null if they may. */
    @Nullable
    String findRefusal(RemoteBuffer window, @Nullable PageSlice[] slices, int count) {
        if (!(session().findRegion(window.key()) instanceof VerbsRegion region)) {
            return "unknown_key";
        }
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += requireNonNull(slices[i]).length();
        }
        return bytes > window.length() || !region.contains(window.address(), window.length())
                ? "out_of_bounds"
                : null;
    }
}
