package io.railhead.gateway.channel;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.gateway.channel.ChannelCounts.Outcome;
import io.railhead.gateway.delivery.RdmaDelivery.Written;
import io.railhead.gateway.rdma.RdmaErrors;
import io.railhead.gateway.relay.StoreErrors;
import io.railhead.gateway.request.ResponseSink;
import io.railhead.gateway.s3.Guard;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.rdma.channel.RequestChannel;
import io.vertx.core.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * One native request that is not a plain hit, and its one response. State belongs to an event loop;
 * {@link #executor} brings other threads there.
 *
 * <p> No response is sent while a transfer may touch the peer's memory. To end the request early,
 * stop the transfer; its end sends the response.
 */
final class ChannelExchange implements ResponseSink {
    private static final int MAX_DOCUMENT_BYTES = 64 << 10;

    private final int id;
    private final String bucket;
    private final RequestOperation operation;
    private final RequestChannel channel;
    private final Context context;
    private final ChannelCounts counts;
    private final Consumer<Answer> onOver;
    private final LongConsumer rate;
    private final long arrivedAtNanos = System.nanoTime();
    private final List<Runnable> closeListeners = new ArrayList<>(1);
    private boolean touching;
    private Written written = Written.NOTHING;
    private boolean cancelled;
    /** Set on the event loop; other threads look whether to go on. */
    private volatile boolean over;

    /**
     * @param onOver receives the response once, before it is sent: afterwards the peer may use the
     *            id again
     * @param rate charges the request's bytes to the caller's tenant
     */
    ChannelExchange(Request request, RequestChannel channel, Context context,
            ChannelCounts counts, Consumer<Answer> onOver, LongConsumer rate) {
        id = request.id();
        bucket = request.bucket();
        operation = request.operation();
        this.channel = channel;
        this.context = context;
        this.counts = counts;
        this.onOver = onOver;
        this.rate = rate;
        counts.started();
    }

    /** Tells the number of bytes that the request moves into the peer's memory. */
    void moves(long bytes) {
        rate.accept(bytes);
    }

    int id() {
        return id;
    }

    @Override
    public Executor executor() {
        return this::execute;
    }

    void execute(Runnable step) {
        context.runOnContext(_ -> Guard.run(step, this::thrown));
    }

    private void thrown(Throwable cause) {
        // Without a listener that can stop it, the transfer has not begun.
        if (touching && !closeListeners.isEmpty()) {
            unexpected(cause);
            stop();
        } else {
            fail(cause);
        }
    }

    @Override
    public long arrivedAtNanos() {
        return arrivedAtNanos;
    }

    @Override
    public boolean isOver() {
        return over;
    }

    @Override
    public void onClosed(Runnable listener) {
        closeListeners.add(listener);
    }

    /** Marks that the peer's memory may be touched from now on. */
    void touch() {
        touching = true;
    }

    /** Marks that nothing touches the peer's memory any more. */
    void release() {
        touching = false;
        if (cancelled) {
            cancelled();
        }
    }

    /**
     * Releases the memory as {@link #release} does. If bytes may have been written, the request can
     * no longer be declined.
     */
    void begunAnew(Written now) {
        if (now == Written.PERHAPS_SOME) {
            written = now;
        }
        release();
    }

    /** Handles the peer's cancellation. */
    void cancel() {
        if (over) {
            return;
        }
        cancelled = true;
        if (touching) {
            stop();
        } else {
            cancelled();
        }
    }

    /** Handles the end of the channel. */
    void lose() {
        if (!over) {
            finish(Outcome.LOST, Answer.declined(id, "lost"));
            stop();
        }
    }

    private void stop() {
        List.copyOf(closeListeners)
                .forEach(listener -> Guard.run(listener, this::unexpected));
    }

    private void cancelled() {
        answer(Outcome.CANCELLED, Answer.declined(id, Answer.CANCELLED));
    }

    void answer(Outcome outcome, Answer answer) {
        if (!over) {
            touching = false;
            finish(outcome, answer);
            channel.answer(answer);
        }
    }

    private void finish(Outcome outcome, Answer answer) {
        over = true;
        onOver.accept(answer);
        counts.over();
        counts.ended(bucket, operation, outcome);
        counts.took(operation, System.nanoTime() - arrivedAtNanos);
    }

    /** Declines the request, so that the peer falls back to HTTP. */
    void decline(String reason) {
        if (written == Written.PERHAPS_SOME) {
            fail(RdmaErrors.tooLateToDecline(reason));
        } else if (!over) {
            counts.declined(reason);
            answer(Outcome.DECLINED, Answer.declined(id, reason));
        }
    }

    @Override
    public void fail(Throwable cause) {
        if (over) {
            return;
        }
        if (!channel.session().isOpen()) {
            // The failure is only a consequence: the peer's session has ended.
            lose();
            return;
        }
        S3Refusal error = cause instanceof S3Refusal known ? known : unexpected(cause);
        if (cancelled && error.error() == S3Error.RDMA_TRANSFER_FENCED) {
            cancelled();
            return;
        }
        counts.error(requestId(), error, operation, bucket);
        answer(Outcome.FAILED,
                Answer.failed(id, error.status(), error.error().code(), error.detail()));
    }

    private String requestId() {
        return Answer.requestId(channel.session().number(), id);
    }

    private S3Refusal unexpected(Throwable cause) {
        return counts.unexpected(channel, id, operation, cause);
    }

    /** Passes the store's refusal on, with the store's code and message. */
    void refuse(BackendResponse answer) {
        BodyDrain.collect(answer.body(), MAX_DOCUMENT_BYTES)
                .exceptionally(_ -> new byte[0])
                .thenAccept(document -> execute(() -> refuse(answer.status(), document)));
    }

    void refuse(int status, byte[] document) {
        AnswerTexts.Refusal refusal = AnswerTexts.refusal(status, document);
        S3Refusal ours = StoreErrors.credentialRefusal(channel.session().principal(),
                refusal.code());
        if (ours != null) {
            fail(ours);
            return;
        }
        answer(Outcome.FAILED, Answer.failed(id, status, refusal.code(), refusal.message()));
    }
}
