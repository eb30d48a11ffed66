package io.railhead.gateway.delivery;

import io.railhead.cache.FillException;
import io.railhead.cache.RangeReader;
import io.railhead.cache.memory.PageSlice;
import io.railhead.gateway.request.ResponseSink;
import io.railhead.gateway.s3.Guard;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.vertx.core.Vertx;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Object bytes written into the client's memory. Until the first write is posted the delivery may
 * be declined. After that it ends with every byte written, or behind a fence. Requester's executor
 * only; the transfer's callbacks are moved there.
 *
 * <pre>
 *  WAITING ──first slice──▶ POSTING ──last completion──▶ OVER (delivered)
 *     │ decide deadline,       │ error, fence deadline,
 *     │ no memory              │ peer closed
 *     ▼                        ▼
 *   OVER (declined)         FENCING ──fence returned──▶ OVER (broken)
 * </pre>
 */
public final class RdmaDelivery implements RangeReader.Sink {
    private final ResponseSink responseSink;
    private final Vertx vertx;
    private final Transfer transfer;
    private final long fromOffset;
    private final Outcome outcome;
    private final RdmaDeadlines deadlines;
    private @Nullable RangeReader reader;
    private State state = State.WAITING;
    private Written written = Written.NOTHING;
    private int writesUnderWay;
    private boolean allHandedOver;
    private boolean starting;
    private long timer = -1;

    private enum State {
        WAITING,
        POSTING,
        FENCING,
        OVER
    }

    /** The state of the client's memory. */
    public enum Written {
        NOTHING,
        PERHAPS_SOME
    }

    /** The end of a delivery: exactly one call, on the executor. */
    public interface Outcome {

        /** Reports that every byte is in the client's memory. */
        void delivered();

        /** Reports that nothing was written; the request can be served over HTTP. */
        void declined(String reason);

        /** Reports that some bytes may have been written, and that no more will be. */
        void broken(Throwable cause);
    }

    public RdmaDelivery(ResponseSink responseSink, Vertx vertx, Transfer transfer, long fromOffset,
            RdmaDeadlines deadlines,
            Outcome outcome) {
        this.responseSink = responseSink;
        this.vertx = vertx;
        this.transfer = transfer;
        this.fromOffset = fromOffset;
        this.deadlines = deadlines;
        this.outcome = outcome;
    }

    public void start(RangeReader newReader) {
        reader = newReader;
        responseSink.onClosed(() -> stop(new TransferException(TransferException.Reason.FENCED,
                "the client went away or wants no answer")));
        starting = true;
        try {
            newReader.start();
        } finally {
            // A hit that is copied within the call is over by now: it needs no timer.
            starting = false;
            arm();
        }
    }

    public Written written() {
        return written;
    }

    /** Sets the timer of the current state. */
    private void arm() {
        switch (state) {
            case WAITING ->
                arm(deadlines.decideMillis(responseSink.arrivedAtNanos()), this::decisionIsDue);
            case POSTING -> arm(deadlines.fenceMillis(responseSink.arrivedAtNanos()),
                    () -> stop(new TransferException(TransferException.Reason.FENCED,
                            "the deadline has passed")));
            case FENCING, OVER -> {
                // Nothing is waited for that a deadline could end.
            }
        }
    }

    private void arm(long millis, Runnable task) {
        vertx.cancelTimer(timer);
        timer = vertx.setTimer(Math.max(1, millis),
                ignored -> responseSink.executor().execute(task));
    }

    private void decisionIsDue() {
        if (state == State.WAITING) {
            decline("slow");
        }
    }

    @Override
    public void slice(PageSlice ownedSlice) {
        if (state == State.WAITING && !deadlines.isOpen(responseSink.arrivedAtNanos())) {
            ownedSlice.close();
            decline("slow");
            return;
        }
        if (state == State.WAITING) {
            state = State.POSTING;
            written = Written.PERHAPS_SOME;
            if (!starting) {
                arm();
            }
        }
        if (state != State.POSTING) {
            ownedSlice.close();
            return;
        }
        writesUnderWay++;
        // An exception, too, is reported only after nothing touches the client's memory.
        Guard.run(() -> post(ownedSlice), this::written);
    }

    private void post(PageSlice ownedSlice) {
        CompletableFuture<Void> write = transfer
                .write(ownedSlice, ownedSlice.objectOffset() - fromOffset)
                .toCompletableFuture();
        if (write.state() == Future.State.SUCCESS) {
            // Copied within the call; the reader tells the end only after it.
            writesUnderWay--;
        } else {
            var _ = write.whenComplete((_, failure) -> responseSink.executor()
                    .execute(() -> written(failure)));
        }
    }

    private void written(@Nullable Throwable failure) {
        writesUnderWay--;
        if (failure != null) {
            stop(failure);
        } else {
            finishIfComplete();
        }
    }

    @Override
    public void end() {
        allHandedOver = true;
        finishIfComplete();
    }

    private void finishIfComplete() {
        if (state == State.POSTING && allHandedOver && writesUnderWay == 0) {
            over();
            outcome.delivered();
        }
    }

    @Override
    public void failed(FillException cause, long atOffset) {
        if (state == State.WAITING) {
            if (cause.reason() == FillException.Reason.NO_MEMORY) {
                decline("memory");
            } else {
                over();
                outcome.broken(cause);
            }
        } else {
            stop(cause);
        }
    }

    private void decline(String reason) {
        over();
        outcome.declined(reason);
    }

    private void stop(Throwable cause) {
        if (state == State.WAITING) {
            over();
            outcome.broken(cause);
        } else if (state == State.POSTING) {
            state = State.FENCING;
            cancelReader();
            transfer.fence()
                    .whenComplete((fenced, failure) -> responseSink.executor().execute(() -> {
                        over();
                        outcome.broken(cause);
                    }));
        }
    }

    private void over() {
        state = State.OVER;
        vertx.cancelTimer(timer);
        cancelReader();
    }

    private void cancelReader() {
        if (reader != null) {
            reader.cancel();
        }
    }
}
