package io.railhead.rdma.pairing;

import java.util.concurrent.CompletionStage;

/**
 * A fabric's part in pairing, for peers that bring a queue pair of their own making. Any thread.
 */
public interface Pairing {

    /**
     * Makes a queue pair for the peer's, ready to send, and a session of the principal's for it.
     * Fails with {@link PairingException}.
     */
    CompletionStage<PairedSession> pair(PairRequest request);

    /**
     * The session with this id, which is the principal's. Throws {@code TransferException} where
     * there is none, or no longer, or another's.
     */
    PairedSession require(String principal, String id);
}
