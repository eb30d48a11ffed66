package io.railhead.rdma.verbs;

import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.poller.Poller;
import io.railhead.rdma.session.PeerSession;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/** A session's queue pair, as its transfers use it. */
interface TransferQueue {

    QueuePairConnection link();

    /** Returns the session. Any thread. */
    PeerSession session();

    /** Returns the poller. Any thread. */
    Poller poller();

    /** Returns the port of the queue pair. Any thread. */
    Port port();

    /** Returns whether the fabric is closing. Any thread. */
    boolean isClosing();

    /** Returns how long a fence waits for posted work before it breaks the queue pair. */
    Duration fenceGrace();

    /** Completes {@code ends} when no byte of the transfer moves any more. Poller only. */
    default void fence(VerbsTransfer transfer, CompletableFuture<Void> ends) {
        dropWaiting(work -> work.transfer().equals(transfer));
        CompletableFuture<Void> untouched = transfer.untouched();
        var _ = untouched.thenRun(() -> ends.complete(null));
        if (!untouched.isDone()) {
            poller().schedule(fenceGrace().toNanos(), () -> {
                if (!untouched.isDone()) {
                    link().fail(EndReason.FENCED, "a fence could wait no longer");
                }
            });
        }
    }

    /** Drops slices that are not posted yet. Poller only. */
    default void dropWaiting(Predicate<SliceWork> which) {
        for (Iterator<Outgoing> waiting = link().transfers().iterator(); waiting.hasNext();) {
            if (waiting.next() instanceof SliceWork work && which.test(work)) {
                waiting.remove();
                work.dropped();
            }
        }
    }
}
