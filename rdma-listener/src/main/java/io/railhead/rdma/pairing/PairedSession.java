package io.railhead.rdma.pairing;

import io.railhead.os.adapter.QueuePairEnd;
import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.session.ClientSession;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** A session whose queue pair was paired over HTTP, from then to its end. Any thread. */
public interface PairedSession {

    ClientSession session();

    /** The gateway's end. */
    QueuePairEnd own();

    /** The gateway's port that it is on, from 1. */
    int portNumber();

    /**
     * Memory of the peer for one request. Nothing of it was registered here: the peer's adapter
     * knows what the key allows, and refuses the rest, which ends the session. Throws
     * {@code TransferException} where the session is over or the window cannot be.
     *
     * @param length unsigned
     */
    RemoteBuffer window(long address, long length, int key);

    /**
     * Tells the peer by an immediate value, behind all that was written before: it completes one
     * receive of the peer's. Completes when the peer has it, and exceptionally when it never will.
     *
     * @param window of which nothing is changed
     */
    CompletionStage<Void> announce(RemoteBuffer window, int cookie);

    /**
     * From now on its silence does not end it: whoever holds it does, however its transfer ends.
     */
    void hold();

    /** Where the peer writes, if it asked for that. */
    Optional<StagingArea> staging();

    /** Ends the session, at once; idempotent. Its queue pair is gone a little later. */
    void end(EndReason reason);
}
