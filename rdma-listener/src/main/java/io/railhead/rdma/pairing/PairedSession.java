package io.railhead.rdma.pairing;

import io.railhead.os.adapter.QueuePairEnd;
import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.session.ClientSession;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** A session whose queue pair was paired over HTTP. Any thread. */
public interface PairedSession {

    ClientSession session();

    /** Returns the gateway's end. */
    QueuePairEnd own();

    /** Returns the number of its port on the gateway's device, from 1. */
    int portNumber();

    /**
     * Returns a window of the peer's memory for one request. Nothing is registered here: the peer's
     * adapter knows what the key allows and refuses the rest, which ends the session. Throws
     * {@code TransferException} if the session is over or the window is invalid.
     *
     * @param length unsigned
     */
    RemoteBuffer window(long address, long length, int key);

    /**
     * Sends the peer an immediate value behind all earlier writes, which completes one receive of
     * the peer's. Completes when the peer has it, and exceptionally if it never will.
     *
     * @param window memory of the peer, which stays unchanged
     */
    CompletionStage<Void> announce(RemoteBuffer window, int cookie);

    /** Stops the idle timeout: the holder now ends the session, however its transfer ends. */
    void hold();

    /** Returns the memory that the peer writes, if the peer asked for it. */
    Optional<StagingArea> staging();

    /** Ends the session at once; idempotent. Its queue pair is destroyed a little later. */
    void end(EndReason reason);
}
