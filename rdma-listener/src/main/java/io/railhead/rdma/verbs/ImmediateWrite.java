package io.railhead.rdma.verbs;

import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.session.ClientSession;
import java.util.concurrent.CompletableFuture;

/**
 * An immediate value on its way to a peer, in a write of no bytes. A queue pair's requests arrive
 * in their order, so the peer hears it after all that was written before.
 */
final class ImmediateWrite implements Outgoing {
    private final ClientSession clientSession;
    private final long remote;
    private final int key;
    private final int value;
    private final CompletableFuture<Void> outcome = new CompletableFuture<>();

    /** @param window memory of the peer's, of which nothing is changed */
    ImmediateWrite(RemoteBuffer window, int value) {
        this.clientSession = window.session();
        this.remote = window.address();
        this.key = window.key();
        this.value = value;
    }

    /** Ends when the peer's adapter has it. */
    CompletableFuture<Void> outcome() {
        return outcome;
    }

    @Override
    public boolean tryAdd(WorkRequestBatch workRequestBatch) {
        if (!workRequestBatch.tryImmediate(value, remote, key)) {
            return false;
        }
        workRequestBatch.end(this);
        return true;
    }

    @Override
    public void ended(boolean arrived) {
        if (arrived) {
            outcome.complete(null);
        } else {
            dropped();
        }
    }

    @Override
    public void dropped() {
        outcome.completeExceptionally(clientSession.brokenOff());
    }
}
