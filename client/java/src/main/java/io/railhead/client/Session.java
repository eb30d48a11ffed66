package io.railhead.client;

import io.railhead.client.channel.ChannelEndedException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** One session with a gateway, and the keys of its registered buffers. Any thread. */
final class Session {
    static final long NEVER_DUE = Long.MAX_VALUE;

    private final FabricConnector.Peer peer;
    private final long maxWindowBytes;
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
    Session(FabricConnector.Peer ownedPeer, long maxWindowBytes, long nanosUntilDue) {
        this.peer = ownedPeer;
        this.maxWindowBytes = maxWindowBytes;
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
        return maxWindowBytes;
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
