package io.railhead.rdma.session;

import static io.railhead.rdma.TransferException.Reason.OUT_OF_BOUNDS;
import static io.railhead.rdma.TransferException.Reason.PEER_GONE;
import static io.railhead.rdma.TransferException.Reason.REMOTE_ACCESS;
import static io.railhead.rdma.TransferException.Reason.UNAVAILABLE;
import static io.railhead.rdma.TransferException.Reason.UNKNOWN_KEY;
import static io.railhead.rdma.TransferException.Reason.UNKNOWN_SESSION;

import io.railhead.protocol.message.Bytes32;
import io.railhead.protocol.message.EndReason;
import io.railhead.protocol.message.SessionKey;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TransferException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A session and the buffers its peer registered. Any thread.
 *
 * <pre>
 *   PENDING ──proven──▶ OPEN ──▶ ENDED
 *      └──────expired, revoked─────▲
 * </pre>
 *
 * Lock order: a session's own lock is never held while {@link ClientSessions}' lock is taken, nor
 * while a listener runs.
 */
public final class PeerSession implements ClientSession {
    private enum State {
        PENDING,
        OPEN,
        ENDED
    }

    private final ClientSessions owner;
    private final Identity identity;
    private final byte[] key;
    private final long expiresAtNanos;
    /** Keys given so far. None is given twice in a session: a stale key must match nothing. */
    private final Set<Integer> keysGiven = new HashSet<>();
    private final List<Runnable> endListeners = new ArrayList<>();
    private volatile State state = State.PENDING;
    /** Changed under the lock, read without. */
    private volatile RegionTable regions = RegionTable.EMPTY;
    private volatile EndReason endReason = EndReason.PEER_GONE;
    private final LongAdder requests = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private volatile String peer = "";
    private volatile long openedAtNanos;

    record Identity(String id, int number, String principal, String fabric) {}

    PeerSession(ClientSessions owner, Identity identity, byte[] key, long expiresAtNanos) {
        this.owner = owner;
        this.identity = identity;
        this.key = key.clone();
        this.expiresAtNanos = expiresAtNanos;
    }

    @Override
    public int number() {
        return identity.number();
    }

    @Override
    public String id() {
        return identity.id();
    }

    @Override
    public String principal() {
        return identity.principal();
    }

    @Override
    public String fabric() {
        return identity.fabric();
    }

    @Override
    public boolean isOpen() {
        return state == State.OPEN;
    }

    /** Returns whether this proof shows that the peer has the session's key. */
    public boolean isProvenBy(Bytes32 proof, Bytes32 clientNonce, Bytes32 serverNonce) {
        return SessionKey.clientProof(key, id(), clientNonce, serverNonce).equals(proof);
    }

    /** Returns the proof that this gateway has the key too. */
    public Bytes32 serverProof(Bytes32 clientNonce, Bytes32 serverNonce) {
        return SessionKey.serverProof(key, id(), clientNonce, serverNonce);
    }

    boolean isExpired(long nowNanos) {
        return nowNanos - expiresAtNanos >= 0;
    }

    synchronized boolean tryOpen() {
        if (state != State.PENDING) {
            return false;
        }
        openedAtNanos = System.nanoTime() | 1;
        state = State.OPEN;
        return true;
    }

    /**
     * Adds a region under a fresh random key that is not 0. Returns 0, and leaves the region with
     * the caller, if the session is not open.
     */
    public synchronized int tryRegister(MemoryRegion memoryRegion, RandomGenerator random) {
        if (state != State.OPEN) {
            return 0;
        }
        int fresh = random.nextInt();
        while (fresh == 0 || !keysGiven.add(fresh)) {
            fresh = random.nextInt();
        }
        regions = regions.with(fresh, memoryRegion);
        return fresh;
    }

    /** Removes a region and retires it; null if there is none with this key. */
    public @Nullable MemoryRegion deregister(int key) {
        MemoryRegion memoryRegion;
        synchronized (this) {
            memoryRegion = regions.find(key);
            regions = regions.without(key);
        }
        if (memoryRegion != null) {
            memoryRegion.retire();
        }
        return memoryRegion;
    }

    /** Sets the peer's name for logs, an address or a process, before the session opens. */
    public void peer(String name) {
        peer = name;
    }

    public String peer() {
        return peer;
    }

    /** Counts a request, on the channel or by a token. Any thread. */
    public void asked() {
        requests.increment();
    }

    /** Counts bytes that moved in either direction. Any thread. */
    public void moved(long count) {
        bytes.add(count);
    }

    /** Returns the session's totals for the log line of its end; empty if it never opened. */
    Optional<Use> use(long nowNanos) {
        return openedAtNanos == 0
                ? Optional.empty()
                : Optional.of(new Use(peer, Duration.ofNanos(nowNanos - openedAtNanos),
                        requests.sum(), bytes.sum()));
    }

    record Use(String peer, Duration open, long requests, long bytes) {}

    /** Returns why the session ended; undefined before. */
    public EndReason endReason() {
        return endReason;
    }

    @Override
    public TransferException brokenOff() {
        String detail = "the session ended: " + endReason.word();
        return switch (endReason) {
            case ACCESS -> new TransferException(REMOTE_ACCESS,
                    detail + ", memory could not be touched by the key and range that were named");
            case SHUTTING_DOWN, UNAVAILABLE -> new TransferException(UNAVAILABLE, detail);
            case PEER_GONE, REVOKED, SILENT, PROTOCOL, FENCED ->
                new TransferException(PEER_GONE, detail);
        };
    }

    public @Nullable MemoryRegion findRegion(int key) {
        return regions.find(key);
    }

    /**
     * Returns a window of one of this session's buffers, checked to lie within it. Throws
     * {@code TransferException} with its reason.
     *
     * @param offset the window's offset in the buffer; unsigned
     * @param length unsigned
     */
    public RemoteBuffer window(int bufferKey, long offset, long length) {
        if (state != State.OPEN) {
            throw new TransferException(UNKNOWN_SESSION, "session " + number() + " is not open");
        }
        MemoryRegion memoryRegion = regions.find(bufferKey);
        if (memoryRegion == null) {
            throw new TransferException(UNKNOWN_KEY,
                    "session " + number() + " has no such buffer");
        }
        if (length < 1 || offset < 0 || offset >= memoryRegion.length()
                || length > memoryRegion.length() - offset) {
            throw new TransferException(OUT_OF_BOUNDS,
                    "window of " + Long.toUnsignedString(length) + " bytes at "
                            + Long.toUnsignedString(offset)
                            + " does not lie within the buffer of " + memoryRegion.length());
        }
        return new RemoteBuffer(this, memoryRegion.baseAddress() + offset, length, bufferKey);
    }

    public int regions() {
        return regions.size();
    }

    /** Runs a listener once at the session's end; at once if it has ended. */
    public void onEnd(Runnable listener) {
        synchronized (this) {
            if (state != State.ENDED) {
                endListeners.add(listener);
                return;
            }
        }
        listener.run();
    }

    /** Ends the session, retires its buffers, and calls its listeners. The first reason stays. */
    public void end(EndReason reason) {
        List<Runnable> listeners;
        List<MemoryRegion> retired;
        synchronized (this) {
            if (state == State.ENDED) {
                return;
            }
            // Set before the state: a thread that sees the session ended also sees the reason.
            endReason = reason;
            state = State.ENDED;
            listeners = List.copyOf(endListeners);
            retired = regions.regions();
            regions = RegionTable.EMPTY;
        }
        owner.ended(this, reason);
        retired.forEach(MemoryRegion::retire);
        listeners.forEach(Runnable::run);
    }
}
