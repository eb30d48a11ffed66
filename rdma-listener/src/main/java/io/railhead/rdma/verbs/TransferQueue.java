package io.railhead.rdma.verbs;

import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.poller.Poller;
import io.railhead.rdma.session.PeerSession;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/** A session's queue pair, as the transfers that go through it know it. */
interface TransferQueue {

    QueuePairConnection link();

    /** Any thread. */
    PeerSession session();

    /** Any thread. */
    Poller poller();

    /** That it goes by. Any thread. */
    Port port();

    /** Any thread. */
    boolean isClosing();

    /** How long a fence waits for what is posted before it breaks the queue pair. */
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

    /** What is not posted yet will not be. Poller only. */
    default void dropWaiting(Predicate<SliceWork> which) {
        for (Iterator<Outgoing> waiting = link().transfers().iterator(); waiting.hasNext();) {
            if (waiting.next() instanceof SliceWork work && which.test(work)) {
                waiting.remove();
                work.dropped();
            }
        }
    }
}
