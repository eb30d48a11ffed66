package io.railhead.rdma.session;

import static io.railhead.rdma.TransferException.Reason.FOREIGN_SESSION;
import static io.railhead.rdma.TransferException.Reason.OUT_OF_BOUNDS;
import static io.railhead.rdma.TransferException.Reason.UNKNOWN_KEY;
import static io.railhead.rdma.TransferException.Reason.UNKNOWN_SESSION;

import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TransferException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All sessions of this gateway, from the signed HTTP open to their end. Any thread.
 *
 * <p> An open creates a pending session, which lives briefly until its peer connects to the fabric
 * and proves the key (HELLO, CHALLENGE, PROOF). Ids, numbers and keys are random: one session
 * reveals nothing about the next. Lookups take no lock; opening, proving and ending share one,
 * which is never held while a session ends.
 */
public final class ClientSessions {
    private static final Logger log = LoggerFactory.getLogger(ClientSessions.class);
    private static final int ID_BYTES = 16;
    private static final int NUMBER_BITS = 24;

    private final long pendingLifeNanos;
    private final int maxPending;
    private final int maxPerPrincipal;
    private final LongSupplier nanoClock;
    private final SecureRandom random;
    private final Suspensions suspensions;
    private final Map<Integer, PeerSession> live = new ConcurrentHashMap<>();
    /** By id, in order of expiry. */
    private final Map<String, PeerSession> pending = new LinkedHashMap<>();

    /** @param pendingLife how long an opened session waits for its proof */
    public ClientSessions(Duration pendingLife, int maxPending, int maxPerPrincipal) {
        this(pendingLife, maxPending, maxPerPrincipal, System::nanoTime, new SecureRandom());
    }

    ClientSessions(Duration pendingLife, int maxPending, int maxPerPrincipal,
            LongSupplier nanoClock,
            SecureRandom random) {
        this.pendingLifeNanos = pendingLife.toNanos();
        this.maxPending = maxPending;
        this.maxPerPrincipal = maxPerPrincipal;
        this.nanoClock = nanoClock;
        this.random = random;
        this.suspensions = new Suspensions(nanoClock);
    }

    /**
     * Opens a pending session.
     *
     * @param fabric the name of the peer's fabric
     * @param sessionKey returns the key for a session id, which is an input of the key: see
     *            {@link io.railhead.protocol.message.SessionKey#derive}
     * @return null if the principal or the gateway has too many sessions, or the principal
     *         {@link #isSuspended}
     */
    public @Nullable ClientSession open(String principal, String fabric,
            Function<String, byte[]> sessionKey) {
        endExpired();
        byte[] id = new byte[ID_BYTES];
        random.nextBytes(id);
        String hexId = HexFormat.of().formatHex(id);
        byte[] key = sessionKey.apply(hexId);
        synchronized (this) {
            if (pending.size() >= maxPending || count(principal) >= maxPerPrincipal
                    || isSuspended(principal)) {
                return null;
            }
            PeerSession session = new PeerSession(this,
                    new PeerSession.Identity(hexId, freshNumber(), principal, fabric), key,
                    nanoClock.getAsLong() + pendingLifeNanos);
            live.put(session.number(), session);
            pending.put(hexId, session);
            return session;
        }
    }

    /**
     * Opens a session that needs no proof: its signed request is answered over the same channel. It
     * has no key, and registers nothing.
     *
     * @return null as {@link #open} does
     */
    public @Nullable PeerSession openPaired(String principal, String fabric) {
        byte[] id = new byte[ID_BYTES];
        random.nextBytes(id);
        synchronized (this) {
            if (count(principal) >= maxPerPrincipal || isSuspended(principal)) {
                return null;
            }
            PeerSession session = new PeerSession(this, new PeerSession.Identity(
                    HexFormat.of().formatHex(id), freshNumber(), principal, fabric), new byte[0],
                    nanoClock.getAsLong());
            boolean _ = session.tryOpen();
            live.put(session.number(), session);
            return session;
        }
    }

    /**
     * Returns the session of this id that waits for its proof on this fabric; null if none does.
     */
    public @Nullable PeerSession findPending(String id, String fabric) {
        endExpired();
        synchronized (this) {
            PeerSession session = pending.get(id);
            return session != null && session.fabric().equals(fabric) ? session : null;
        }
    }

    /**
     * Opens a session whose peer has proved the key; false if it has expired, was revoked, or
     * another connection came first.
     */
    public boolean tryProve(PeerSession session) {
        endExpired();
        synchronized (this) {
            return pending.remove(session.id(), session) && session.tryOpen();
        }
    }

    /**
     * Returns the window that a token names. The session must exist, be proven and belong to the
     * principal; the window must lie within the buffer of that key. Throws
     * {@code TransferException} with its reason. Repeated requests without a right suspend the
     * principal.
     */
    public RemoteBuffer resolve(String principal, int sessionNumber, long address, long length,
            int key) {
        PeerSession session = live.get(sessionNumber);
        if (session == null) {
            throw new TransferException(UNKNOWN_SESSION, "no session " + sessionNumber);
        }
        if (!session.principal().equals(principal)) {
            accessError(principal);
            throw new TransferException(FOREIGN_SESSION,
                    "session " + sessionNumber + " is not " + principal + "'s");
        }
        if (!session.isOpen()) {
            throw new TransferException(UNKNOWN_SESSION,
                    "session " + sessionNumber + " is not open");
        }
        MemoryRegion memoryRegion = session.findRegion(key);
        if (memoryRegion == null) {
            accessError(principal);
            throw new TransferException(UNKNOWN_KEY,
                    "session " + sessionNumber + " has no such buffer");
        }
        if (!memoryRegion.contains(address, length)) {
            throw new TransferException(OUT_OF_BOUNDS, "window of " + length
                    + " bytes does not lie within the buffer of " + memoryRegion.length());
        }
        session.asked();
        return new RemoteBuffer(session, address, length, key);
    }

    /** Ends every session of a principal, for example when its credential is withdrawn. */
    public void revoke(String principal) {
        endAll(principal, EndReason.REVOKED);
    }

    /** Returns whether the principal may not use RDMA now, after repeated access errors. */
    public boolean isSuspended(String principal) {
        return suspensions.isSuspended(principal);
    }

    private void endAll(String principal, EndReason reason) {
        for (PeerSession session : live.values()) {
            if (session.principal().equals(principal)) {
                session.end(reason);
            }
        }
    }

    /** Returns the number of open sessions. */
    public int open() {
        return (int) live.values().stream().filter(PeerSession::isOpen).count();
    }

    /**
     * Removes a session that has ended. If repeated access errors ended sessions, the principal's
     * other sessions end too.
     */
    void ended(PeerSession session, EndReason reason) {
        synchronized (this) {
            live.remove(session.number(), session);
            pending.remove(session.id(), session);
        }
        session.use(System.nanoTime())
                .ifPresent(use -> log.info(
                        "{} session {} of principal {} at {} ended: {}; open for {} ms,"
                                + " {} requests, {} bytes",
                        session.fabric(), session.label(),
                        session.principal(), use.peer(), reason.word(), use.open().toMillis(),
                        use.requests(), use.bytes()));
        if (reason == EndReason.ACCESS) {
            accessError(session.principal());
        }
    }

    /** Counts an access error; repeated ones suspend the principal. */
    public void accessError(String principal) {
        if (suspensions.accessError(principal)) {
            log.warn("RDMA of principal {} is suspended for {} s: memory that it named could not be"
                    + " touched, {} times within {} s", principal,
                    Suspensions.SUSPENDED.toSeconds(),
                    Suspensions.ERRORS, Suspensions.WATCHED.toSeconds());
            endAll(principal, EndReason.ACCESS);
        }
    }

    private void endExpired() {
        List<PeerSession> expired = new ArrayList<>();
        synchronized (this) {
            long now = nanoClock.getAsLong();
            for (PeerSession session : pending.values()) {
                if (!session.isExpired(now)) {
                    break;
                }
                expired.add(session);
            }
        }
        expired.forEach(session -> session.end(EndReason.PEER_GONE));
    }

    private long count(String principal) {
        return live.values().stream().filter(s -> s.principal().equals(principal)).count();
    }

    private int freshNumber() {
        int number = random.nextInt(1 << NUMBER_BITS);
        while (number == 0 || live.containsKey(number)) {
            number = random.nextInt(1 << NUMBER_BITS);
        }
        return number;
    }
}
