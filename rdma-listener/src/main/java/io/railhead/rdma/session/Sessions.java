package io.railhead.rdma.session;

import io.railhead.rdma.RemoteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * All sessions of this gateway, from the signed HTTP open to their end. Any thread.
 *
 * <p>
 * An open makes a pending session: it has a short life until its peer connects to the fabric and
 * proves the key (HELLO, CHALLENGE, PROOF).
 */
public final class Sessions {

    /**
     * @param pendingLife
     *            how long an opened session waits for its proof
     */
    public Sessions(Duration pendingLife, int maxPending, int maxPerPrincipal) {
        throw new UnsupportedOperationException();
    }

    /**
     * Opens a pending session.
     *
     * @param sessionKey
     *            derived by both sides from the SigV4 key of the open, see {@code SessionKey}
     * @return null where the principal has too many
     */
    public @Nullable Session open(String principal, byte[] sessionKey) {
        throw new UnsupportedOperationException();
    }

    /**
     * What a token names, checked: the session exists, is proven and is the principal's, and the
     * window lies within the buffer of that key. Throws {@code TransferException} with its reason.
     */
    public RemoteBuffer resolve(String principal, int sessionNumber, long address, long length,
            int key) {
        throw new UnsupportedOperationException();
    }

    /** Ends every session of a principal, as when its credential is withdrawn. */
    public void revoke(String principal) {
        throw new UnsupportedOperationException();
    }

    public int open() {
        throw new UnsupportedOperationException();
    }
}
