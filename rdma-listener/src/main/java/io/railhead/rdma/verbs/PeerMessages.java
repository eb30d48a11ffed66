package io.railhead.rdma.verbs;

import io.railhead.rdma.channel.Ended;
import io.railhead.rdma.session.EndReason;
import io.railhead.rdma.session.Message;
import io.railhead.rdma.session.MessageCodec;
import io.railhead.rdma.session.MessageException;
import io.railhead.rdma.session.MessageHeader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The peer's end of a link: gives each message to whoever waits for it. */
final class PeerMessages implements Link.Owner {
    private static final Logger log = LoggerFactory.getLogger(PeerMessages.class);

    private final AtomicReference<@Nullable CompletableFuture<Message>> expected = new AtomicReference<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private volatile Consumer<ByteBuffer> answers = _ -> log.warn("answers that nobody waits for");
    private volatile @Nullable Ended ended;

    /** The next message to come; one caller at a time. */
    CompletableFuture<Message> expect() {
        CompletableFuture<Message> next = new CompletableFuture<>();
        expected.set(next);
        if (closed.isDone()) {
            fail("the connection has ended");
        }
        return next;
    }

    /** Hears ANSWERS, whole messages, on the peer's own thread. */
    void onAnswers(Consumer<ByteBuffer> listener) {
        answers = listener;
    }

    /** Completes when the gateway has said the end, or the connection broke. */
    CompletableFuture<Void> closed() {
        return closed;
    }

    /** What the gateway said at the end; null if it has not. */
    @Nullable
    Ended ended() {
        return ended;
    }

    @Override
    public void received(ByteBuffer message) {
        try {
            int type = MessageHeader.requireType(message, 0);
            switch (type) {
                case MessageHeader.ANSWERS -> answers.accept(message);
                case MessageHeader.ENDED -> ended(message);
                default -> answer(MessageCodec.decode(message));
            }
        } catch (MessageException e) {
            fail(String.valueOf(e.getMessage()));
        }
    }

    private void ended(ByteBuffer message) throws MessageException {
        ended = Ended.decode(message.slice(MessageHeader.BYTES,
                message.limit() - MessageHeader.BYTES));
        end("the gateway ended the session");
    }

    private void answer(@Nullable Message message) throws MessageException {
        CompletableFuture<Message> waiting = expected.getAndSet(null);
        if (waiting == null || message == null) {
            throw new MessageException("nobody asked for " + message);
        }
        waiting.complete(message);
    }

    @Override
    public void quiet() {
        // Nothing waits for it.
    }

    @Override
    public void broken(EndReason reason, String detail) {
        end(detail);
    }

    @Override
    public void drained() {
        log.debug("peer's link drained");
    }

    private void end(String why) {
        closed.complete(null);
        fail(why);
    }

    private void fail(String why) {
        CompletableFuture<Message> waiting = expected.getAndSet(null);
        if (waiting != null) {
            waiting.completeExceptionally(new IOException(why));
        }
    }
}
