package io.railhead.rdma.verbs;

import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.session.ClientSession;
import java.util.concurrent.CompletableFuture;

/**
 * An immediate value for a peer, sent by a write without bytes. A queue pair delivers requests in
 * order, so the peer gets the value after all earlier writes.
 */
final class ImmediateWrite implements Outgoing {
    private final ClientSession clientSession;
    private final long remote;
    private final int key;
    private final int value;
    private final CompletableFuture<Void> outcome = new CompletableFuture<>();

    /** @param window memory of the peer, which stays unchanged */
    ImmediateWrite(RemoteBuffer window, int value) {
        this.clientSession = window.session();
        this.remote = window.address();
        this.key = window.key();
        this.value = value;
    }

    /** Completes when the peer's adapter has received the value. */
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
