package io.railhead.rdma.loopback;

import io.netty.channel.unix.PeerCredentials;
import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import io.railhead.os.OsException;
import io.railhead.os.ProcessMemory;
import io.railhead.protocol.message.Bytes32;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.Message.Attach;
import io.railhead.protocol.message.Message.Challenge;
import io.railhead.protocol.message.Message.Refused;
import io.railhead.protocol.message.Message.Registered;
import io.railhead.protocol.message.Refusal;
import io.railhead.rdma.session.MemoryRegion;
import io.railhead.rdma.session.PeerSession;
import java.io.IOException;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory of one peer that this gateway has mapped or attached, until it is released. The
 * connection's event loop only.
 */
final class PeerBuffers {
    private static final Logger log = LoggerFactory.getLogger(PeerBuffers.class);

    private final LoopbackPeers peers;
    private final PeerSession session;
    private final BounceSyncs syncs;
    /** Regions that are mapped, registered ones and those being released. */
    private final Set<CompletableFuture<Void>> mapped = new HashSet<>();
    private @Nullable Attaching attaching;

    PeerBuffers(LoopbackPeers peers, PeerSession session, BounceSyncs syncs) {
        this.peers = peers;
        this.session = session;
        this.syncs = syncs;
    }

    PeerSession session() {
        return session;
    }

    /** Returns why a registration is refused before the descriptor is sent; null if it is not. */
    @Nullable
    Refusal findRefusal(long baseAddress, long length) {
        if (session.regions() >= peers.config().maxBuffers()) {
            return Refusal.TOO_MANY_BUFFERS;
        }
        boolean wraps = Long.compareUnsigned(baseAddress + length - 1, baseAddress) < 0;
        return length < 1 || wraps ? Refusal.BAD_LENGTH : null;
    }

    /** Maps and registers a descriptor's memory; the descriptor is closed on every path. */
    Message take(MemoryOffer offer, int ownedDescriptor) {
        try (MemoryFile file = MemoryFile.adopt(ownedDescriptor)) {
            return offer.length() > file.bytes()
                    ? refuse(Refusal.BAD_LENGTH, "longer than the memory: " + file.bytes())
                    : map(offer, file);
        } catch (OsException e) {
            return refuse(Refusal.NOT_SEALED, String.valueOf(e.getMessage()));
        }
    }

    private Message map(MemoryOffer offer, MemoryFile file) {
        long bytes = offer.length();
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
        return register(offer.baseAddress(), bytes, offer.memory(mapping, syncs));
    }

    /** Registers memory whose bytes are counted already. */
    private Message register(long baseAddress, long bytes, PeerMemory ownedMemory) {
        SharedRegion region = new SharedRegion(baseAddress, bytes, ownedMemory,
                peers.unmapper(), () -> peers.registeredBytes().giveBack(session, bytes));
        hold(region);
        int key = session.tryRegister(region, peers.random());
        if (key == 0) {
            region.retire();
            return refuse(Refusal.UNKNOWN_SESSION, "the session has ended");
        }
        return new Registered(key);
    }

    /** Opens the memory of the peer's process, which the peer must prove to be its own. */
    Message attach(Attach attach, PeerCredentials process) {
        Refusal refusal = attach.baseAddress() < 0 // the kernel's half
                ? Refusal.BAD_LENGTH
                : findRefusal(attach.baseAddress(), attach.length());
        if (refusal != null) {
            return refuse(refusal, attach.length() + " bytes of its own");
        }
        if (!peers.config().crossMemory()) {
            return refuse(Refusal.NOT_ATTACHED, "rdma.loopback.cross_memory is off");
        }
        try {
            attaching = new Attaching(attach, ProcessMemory.open(process.pid(), process.uid()),
                    Bytes32.random(peers.random()));
            return new Challenge(attaching.nonce());
        } catch (IOException | RuntimeException | Error e) {
            return refuse(Refusal.NOT_ATTACHED, String.valueOf(e));
        }
    }

    /**
     * Checks the proof on a worker, since memory that the peer chose may take any time to answer.
     *
     * @param said the nonce that the peer repeats
     * @param loop runs the continuation
     */
    CompletableFuture<Message> attached(Bytes32 said, Executor loop) {
        Attaching asked = Objects.requireNonNull(attaching, "nothing is being attached");
        attaching = null;
        if (!said.equals(asked.nonce())) {
            asked.close();
            return CompletableFuture.completedFuture(refuse(Refusal.NOT_ATTACHED, "another nonce"));
        }
        CompletableFuture<AttachedMemory> proven = new CompletableFuture<>();
        if (!peers.engine().blockingWorkers().trySubmit(session.principal(), () -> {
            try {
                proven.complete(asked.proven());
            } catch (IOException | RuntimeException | Error e) {
                proven.completeExceptionally(e);
            }
            return false;
        })) {
            asked.close();
            proven.completeExceptionally(CopyEngine.closing());
        }
        return proven.handleAsync((memory, failure) -> memory == null
                ? refuse(Refusal.NOT_ATTACHED, String.valueOf(failure))
                : register(asked.attach(), memory), loop);
    }

    private Message register(Attach attach, AttachedMemory ownedMemory) {
        long bytes = attach.length();
        if (!peers.registeredBytes().tryTake(session, bytes)) {
            ownedMemory.close();
            return refuse(Refusal.TOO_MANY_BYTES, bytes + " more bytes");
        }
        return register(attach.baseAddress(), bytes, ownedMemory);
    }

    private void hold(SharedRegion region) {
        mapped.removeIf(CompletableFuture::isDone);
        mapped.add(region.unmapped().toCompletableFuture());
    }

    /** Retires a buffer; completes when nothing touches it. Null if there is none of this key. */
    @Nullable
    CompletableFuture<Void> retire(int key) {
        MemoryRegion memoryRegion = session.deregister(key);
        return memoryRegion instanceof SharedRegion shared
                ? shared.unmapped().toCompletableFuture()
                : null;
    }

    /** Completes when nothing in this process touches any of the peer's memory. */
    CompletableFuture<Void> untouched() {
        if (attaching != null) {
            attaching.close();
            attaching = null;
        }
        return CompletableFuture.allOf(mapped.toArray(CompletableFuture[]::new));
    }

    private Refused refuse(Refusal reason, String detail) {
        log.warn("loopback session {} buffer refused: {}: {}", session.label(), reason, detail);
        peers.counts().refused(reason);
        return new Refused(reason);
    }
}
