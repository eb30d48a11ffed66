package io.railhead.rdma.verbs;

import io.railhead.cache.memory.PageSlice;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.session.PeerSession;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Reads the bytes that a peer has staged. The peer cannot touch them any more, so a fence only
 * waits for the copy under way. A virtual thread copies, since that would block an event loop.
 */
final class StagedTransfer implements Transfer {
    private final PeerSession session;
    private final StagingMemory stagingMemory;
    private volatile boolean fenced;
    private volatile CompletableFuture<Void> copying = CompletableFuture.completedFuture(null);

    StagedTransfer(PeerSession session, StagingMemory stagingMemory) {
        this.session = session;
        this.stagingMemory = stagingMemory;
    }

    @Override
    public CompletionStage<Void> write(PageSlice ownedSlice, long bufferOffset) {
        ownedSlice.close();
        return CompletableFuture.failedFuture(new TransferException(Reason.OUT_OF_BOUNDS,
                "what a peer has staged is only read"));
    }

    @Override
    public CompletionStage<PageSlice> read(PageSlice ownedSlice, long bufferOffset) {
        CompletableFuture<PageSlice> outcome = new CompletableFuture<>();
        CompletableFuture<Void> over = new CompletableFuture<>();
        copying = over;
        Thread.ofVirtual().name("staged-copy").start(() -> {
            TransferException failure = copy(ownedSlice, bufferOffset);
            over.complete(null);
            if (failure == null) {
                session.moved(ownedSlice.length());
                outcome.complete(ownedSlice);
            } else {
                ownedSlice.close();
                outcome.completeExceptionally(failure);
            }
        });
        return outcome;
    }

    private @Nullable TransferException copy(PageSlice slice, long from) {
        if (fenced) {
            return new TransferException(Reason.FENCED, "the transfer was fenced");
        }
        if (from < 0 || from > stagingMemory.bytes() - slice.length()) {
            return new TransferException(Reason.OUT_OF_BOUNDS, slice.length() + " bytes at " + from
                    + " do not lie within " + stagingMemory.bytes());
        }
        return stagingMemory.tryCopyTo(slice, from)
                ? null
                : session.brokenOff();
    }

    @Override
    public CompletionStage<Void> fence() {
        fenced = true;
        return copying.copy();
    }
}
