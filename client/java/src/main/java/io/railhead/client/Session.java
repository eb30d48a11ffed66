package io.railhead.client;

import io.railhead.client.channel.ChannelEndedException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * One session with a gateway, and the keys of the buffers that are registered in it. Any thread.
 */
final class Session {
    private final FabricConnector.Peer peer;
    private final long maxWindowBytes;
    private final Map<RegisteredBuffer, Integer> keys = new ConcurrentHashMap<>();
    private volatile long heardAtNanos = System.nanoTime();

    /** On a proven connection, which it owns from here on. */
    Session(FabricConnector.Peer ownedPeer, long maxWindowBytes) {
        this.peer = ownedPeer;
        this.maxWindowBytes = maxWindowBytes;
    }

    FabricConnector.Peer peer() {
        return peer;
    }

    /** The most bytes of a token's window. */
    long maxWindowBytes() {
        return maxWindowBytes;
    }

    boolean isUsable() {
        return peer.isOpen();
    }

    /** The buffer's key, if it is registered already. */
    @Nullable
    Integer findKey(RegisteredBuffer buffer) {
        return keys.get(buffer);
    }

    /** Something was answered. */
    void heard() {
        heardAtNanos = System.nanoTime();
    }

    /** For how long nothing was answered. */
    long silentNanos() {
        return System.nanoTime() - heardAtNanos;
    }

    /**
     * Registers the buffer unless it is registered already. Blocks. Throws
     * {@link NotAvailableException} where it is refused, {@link ChannelEndedException} where the
     * session has ended.
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

    /** Returns when the gateway no longer touches the buffer. */
    synchronized void deregister(RegisteredBuffer buffer) {
        Integer key = keys.remove(buffer);
        if (key == null) {
            return;
        }
        try {
            peer.deregister(key);
        } catch (IOException _) {
            // What the gateway may touch is known again with the session's end.
            peer.close();
        }
    }

    /**
     * Waits, for the timeout at most, until the gateway touches no memory of this process any more;
     * see {@link #hasLetGo}. Idempotent.
     */
    void end() {
        peer.close();
    }

    /** Once it has ended. */
    boolean hasLetGo() {
        return peer.hasLetGo();
    }
}
