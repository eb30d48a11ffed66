package io.railhead.rdma.pairing;

import java.util.concurrent.CompletionStage;

/** A fabric's support for peers that bring a queue pair of their own. Any thread. */
public interface Pairing {

    /**
     * Creates a queue pair for the peer's, ready to send, and its session for the principal. Fails
     * with {@link PairingException}.
     */
    CompletionStage<PairedSession> pair(PairRequest request);

    /**
     * Returns the principal's session of this id. Throws {@code TransferException} if there is
     * none, it has ended, or it is another principal's.
     */
    PairedSession require(String principal, String id);
}
