package io.railhead.gateway.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lingering close of a connection whose client may still send. Closing a socket with unread bytes
 * resets it, and a reset discards a response that the client has not read yet. The output ends at
 * once; input is discarded, within bounds, until the client closes. First handler of a connection;
 * its event loop only.
 */
public final class LingeringClose extends ChannelOutboundHandlerAdapter {
    private static final long MAX_SECONDS = 5;
    private static final long MAX_BYTES = 64 << 20;

    private BooleanSupplier isSending = () -> false;
    private boolean lingering;

    private LingeringClose() {}

    public static void guard(ChannelPipeline pipeline) {
        pipeline.addFirst(new LingeringClose());
    }

    /** @param isSending whether the client still has bytes to send; called at the close */
    public static void whileSending(Channel channel, BooleanSupplier isSending) {
        LingeringClose guard = channel.pipeline().get(LingeringClose.class);
        if (guard != null) {
            guard.isSending = isSending;
        }
    }

    @Override
    public void close(ChannelHandlerContext context, ChannelPromise closed) {
        Channel channel = context.channel();
        if (lingering) {
            var _ = channel.closeFuture().addListener(_ -> closed.trySuccess());
        } else if (channel instanceof DuplexChannel duplex && channel.isActive()
                && isSending.getAsBoolean()) {
            lingering = true;
            context.pipeline().addFirst(new Rest(closed));
            var _ = duplex.shutdownOutput();
            channel.config().setAutoRead(true);
        } else {
            var _ = context.close(closed);
        }
    }

    /** Discards what the client still sends. */
    private static final class Rest extends ChannelInboundHandlerAdapter {
        private final ChannelPromise closed;
        private @Nullable Future<?> deadline;
        private long bytes;

        Rest(ChannelPromise closed) {
            this.closed = closed;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext context) {
            deadline = context.executor()
                    .schedule(() -> {
                        var _ = context.close(closed);
                    }, MAX_SECONDS, TimeUnit.SECONDS);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            bytes += message instanceof ByteBuf piece ? piece.readableBytes() : 0;
            ReferenceCountUtil.release(message);
            if (bytes > MAX_BYTES) {
                var _ = context.close(closed);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            if (deadline != null) {
                deadline.cancel(false);
            }
            closed.trySuccess();
            context.fireChannelInactive();
        }
    }
}
