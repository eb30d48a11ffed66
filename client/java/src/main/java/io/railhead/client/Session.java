package io.railhead.client;

import io.railhead.client.channel.ChannelEndedException;
import io.railhead.protocol.channel.RequestOperation;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** One session with a gateway, and the keys of its registered buffers. Any thread. */
final class Session {
    static final long NEVER_DUE = Long.MAX_VALUE;

    private final FabricConnector.Peer peer;
    private final SessionGrant grant;
    private final Map<RegisteredBuffer, Integer> keys = new ConcurrentHashMap<>();
    private final boolean ends;
    private volatile long heardAtNanos = System.nanoTime();
    private volatile long dueAtNanos;

    /**
     * Takes ownership of a proven connection.
     *
     * @param nanosUntilDue the time until another session should replace this one; or
     *            {@link #NEVER_DUE}
     */
    Session(FabricConnector.Peer ownedPeer, SessionGrant grant, long nanosUntilDue) {
        this.peer = ownedPeer;
        this.grant = grant;
        ends = nanosUntilDue != NEVER_DUE;
        dueAtNanos = System.nanoTime() + nanosUntilDue;
    }

    /** Returns whether another session should replace this one: its credentials end soon. */
    boolean isDue() {
        return ends && System.nanoTime() - dueAtNanos >= 0;
    }

    void putOff(long nanos) {
        dueAtNanos = System.nanoTime() + nanos;
    }

    FabricConnector.Peer peer() {
        return peer;
    }

    /** Returns the most bytes of a token's window. */
    long maxWindowBytes() {
        return grant.maxWindowBytes();
    }

    boolean serves(UnboundRequest request) {
        return request.request().operation().code() <= grant.highestOperation()
                && request.windows().size() <= Math.max(1, grant.maxWindows());
    }

    /** Throws if the gateway does not know such a request, which would end the session. */
    void requireServed(UnboundRequest request) throws NotAvailableException {
        if (serves(request)) {
            return;
        }
        RequestOperation operation = request.request().operation();
        if (operation.code() > grant.highestOperation()) {
            throw new NotAvailableException("this gateway is too old for " + operation
                    + ": it serves operations up to " + grant.highestOperation() + ", and "
                    + operation + " is " + operation.code());
        }
        throw new NotAvailableException("this gateway takes at most " + grant.maxWindows()
                + " windows of one request: " + request.windows().size());
    }

    boolean isUsable() {
        return peer.isOpen();
    }

    /** Returns the buffer's key if it is registered already. */
    @Nullable
    Integer findKey(RegisteredBuffer buffer) {
        return keys.get(buffer);
    }

    /** Notes an answer. */
    void heard() {
        heardAtNanos = System.nanoTime();
    }

    /** Returns the time since the last answer. */
    long silentNanos() {
        return System.nanoTime() - heardAtNanos;
    }

    /**
     * Registers the buffer unless it is registered already. Blocks. Throws
     * {@link NotAvailableException} on a refusal, {@link ChannelEndedException} if the session has
     * ended.
     */
    synchronized int register(RegisteredBuffer buffer) throws IOException {
        Integer known = keys.get(buffer);
        if (known != null) {
            return known;
        }
        try {
            int key = peer.register(buffer.source());
            keys.put(buffer, key);
            return key;
        } catch (IOException e) {
            throw isUsable()
                    ? new NotAvailableException("the buffer is refused: " + e.getMessage(), e)
                    : new ChannelEndedException(null, false);
        }
    }

    /** Deregisters buffers that were closed while this session was being opened. */
    void keepOnly(Set<RegisteredBuffer> buffers) {
        for (RegisteredBuffer buffer : keys.keySet()) {
            if (!buffers.contains(buffer)) {
                deregister(buffer);
            }
        }
    }

    /** Deregisters the buffer; returns when the gateway no longer touches it. */
    synchronized void deregister(RegisteredBuffer buffer) {
        Integer key = keys.remove(buffer);
        if (key == null) {
            return;
        }
        try {
            peer.deregister(key);
        } catch (IOException _) {
            // Only the session's end makes sure that the gateway touches nothing.
            peer.close();
        }
    }

    /**
     * Ends the session. Waits, at most for the timeout, until the gateway touches no memory of this
     * process; see {@link #hasLetGo}. Idempotent.
     */
    void end() {
        peer.close();
    }

    /** Returns, after the session's end, whether the gateway has released all memory. */
    boolean hasLetGo() {
        return peer.hasLetGo();
    }
}
