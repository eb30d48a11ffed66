package io.railhead.rdma;

import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.session.ClientSession;
import org.jspecify.annotations.Nullable;

/**
 * A range of a peer's memory that one request may touch, checked to lie inside a buffer that its
 * session registered. A session that was paired over HTTP registers nothing: the peer's adapter
 * checks instead.
 *
 * @param address the peer's address of the first byte
 * @param length bytes that the peer offers, at least 1
 * @param key of the registered buffer, or the remote key of the peer's adapter
 */
public record RemoteBuffer(ClientSession session, long address, long length, int key) {

    /** Returns the refusal of bytes outside the buffer; null if they lie within it. */
    public @Nullable TransferException findRefusal(int bytes, long offset) {
        return offset < 0 || offset > length - bytes
                ? new TransferException(Reason.OUT_OF_BOUNDS,
                        bytes + " bytes at " + offset + " do not lie within " + length)
                : null;
    }
}
