package io.railhead.rdma;

import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.session.ClientSession;
import org.jspecify.annotations.Nullable;

/**
 * A stretch of a peer's memory that one request may touch: checked to lie inside a buffer that its
 * session registered. A session that was paired over HTTP registers nothing: its peer's adapter
 * checks.
 *
 * @param address the peer's address of the first byte
 * @param length bytes that the peer offered, at least 1
 * @param key of the registered buffer, or the one that the peer's own adapter knows
 */
public record RemoteBuffer(ClientSession session, long address, long length, int key) {

    /** The refusal of bytes that do not lie within it; null where they do. */
    public @Nullable TransferException findRefusal(int bytes, long offset) {
        return offset < 0 || offset > length - bytes
                ? new TransferException(Reason.OUT_OF_BOUNDS,
                        bytes + " bytes at " + offset + " do not lie within " + length)
                : null;
    }
}
