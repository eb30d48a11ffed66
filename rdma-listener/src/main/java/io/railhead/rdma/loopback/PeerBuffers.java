package io.railhead.rdma.loopback;

import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import io.railhead.os.OsException;
import io.railhead.rdma.session.Message;
import io.railhead.rdma.session.Message.Refused;
import io.railhead.rdma.session.Message.Register;
import io.railhead.rdma.session.Message.Registered;
import io.railhead.rdma.session.PeerSession;
import io.railhead.rdma.session.Refusal;
import io.railhead.rdma.session.Region;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory of one peer that this gateway has mapped, until it is unmapped. The connection's event
 * loop only.
 */
final class PeerBuffers {
    private static final Logger log = LoggerFactory.getLogger(PeerBuffers.class);

    private final LoopbackPeers peers;
    private final PeerSession session;
    /** Mapped, whether registered or on their way out. */
    private final Set<CompletableFuture<Void>> mapped = new HashSet<>();

    PeerBuffers(LoopbackPeers peers, PeerSession session) {
        this.peers = peers;
        this.session = session;
    }

    PeerSession session() {
        return session;
    }

    /** Why the descriptor need not even be sent; null if it should be. */
    @Nullable
    Refusal findRefusal(Register register) {
        if (session.regions() >= peers.config().maxBuffers()) {
            return Refusal.TOO_MANY_BUFFERS;
        }
        long last = register.baseAddress() + register.length() - 1;
        boolean wraps = Long.compareUnsigned(last, register.baseAddress()) < 0;
        return register.length() < 1 || wraps ? Refusal.BAD_LENGTH : null;
    }

    /** Maps and registers what came; the descriptor is closed on every path. */
    Message take(Register register, int ownedDescriptor) {
        try (MemoryFile file = MemoryFile.adopt(ownedDescriptor)) {
            return register.length() > file.bytes()
                    ? refuse(Refusal.BAD_LENGTH, "longer than the memory: " + file.bytes())
                    : map(register, file);
        } catch (OsException e) {
            return refuse(Refusal.NOT_SEALED, String.valueOf(e.getMessage()));
        }
    }

    private Message map(Register register, MemoryFile file) {
        long bytes = register.length();
        if (!peers.registeredBytes().tryTake(session, bytes)) {
            return refuse(Refusal.TOO_MANY_BYTES, bytes + " more bytes");
        }
        Mapping mapping;
        try {
            mapping = file.map(bytes);
        } catch (OsException e) {
            peers.registeredBytes().giveBack(session, bytes);
            return refuse(Refusal.CANNOT_MAP, String.valueOf(e.getMessage()));
        }
        SharedRegion region = new SharedRegion(register.baseAddress(), bytes, mapping,
                peers.unmapper(), () -> peers.registeredBytes().giveBack(session, bytes));
        hold(region);
        int key = session.tryRegister(region, peers.random());
        if (key == 0) {
            region.retire();
            return refuse(Refusal.UNKNOWN_SESSION, "the session has ended");
        }
        return new Registered(key);
    }

    private void hold(SharedRegion region) {
        mapped.removeIf(CompletableFuture::isDone);
        mapped.add(region.unmapped().toCompletableFuture());
    }

    /** Retires a buffer; completes when nothing touches it, null if there is none of this key. */
    @Nullable
    CompletableFuture<Void> retire(int key) {
        Region region = session.deregister(key);
        return region instanceof SharedRegion shared
                ? shared.unmapped().toCompletableFuture()
                : null;
    }

    /** Completes when nothing of this process touches any of the peer's memory. */
    CompletableFuture<Void> untouched() {
        return CompletableFuture.allOf(mapped.toArray(CompletableFuture[]::new));
    }

    private Refused refuse(Refusal reason, String detail) {
        log.warn("loopback session {} buffer refused: {}: {}", session.number(), reason, detail);
        peers.counts().refused(reason);
        return new Refused(reason);
    }
}
