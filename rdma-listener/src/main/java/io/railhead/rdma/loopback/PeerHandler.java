package io.railhead.rdma.loopback;

import io.netty.channel.ChannelHandlerContext;
import io.railhead.rdma.session.Message;
import io.railhead.rdma.session.MessageException;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The peer's end of a connection: gives each message to whoever waits for it. */
final class PeerHandler extends MessageHandler {
    private final AtomicReference<@Nullable CompletableFuture<Message>> expected = new AtomicReference<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    /** The next message to come; one caller at a time. */
    CompletableFuture<Message> expect() {
        CompletableFuture<Message> next = new CompletableFuture<>();
        expected.set(next);
        if (closed.isDone()) {
            fail();
        }
        return next;
    }

    CompletableFuture<Void> closed() {
        return closed;
    }

    @Override
    void received(ChannelHandlerContext context, Message message) throws MessageException {
        CompletableFuture<Message> waiting = expected.getAndSet(null);
        if (waiting == null) {
            throw new MessageException("nobody asked for " + message);
        }
        waiting.complete(message);
    }

    @Override
    void broken(ChannelHandlerContext context, Throwable cause) {
        CompletableFuture<Message> waiting = expected.getAndSet(null);
        if (waiting != null) {
            waiting.completeExceptionally(cause);
        }
        var _ = context.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        closed.complete(null);
        fail();
    }

    private void fail() {
        CompletableFuture<Message> waiting = expected.getAndSet(null);
        if (waiting != null) {
            waiting.completeExceptionally(new IOException("the gateway closed the connection"));
        }
    }
}
