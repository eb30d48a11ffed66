package io.railhead.rdma.loopback;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.railhead.rdma.session.Message;
import io.railhead.rdma.session.MessageCodec;
import io.railhead.rdma.session.MessageException;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * One end of a loopback connection: bytes become messages, one at a time, in a buffer that holds no
 * more than the longest. Event loop only.
 *
 * <p> An end whose answers are not read is closed: answers are short, so whoever lets them pile up
 * means no good.
 */
abstract class MessageHandler extends ChannelInboundHandlerAdapter {
    private final ByteBuffer gathered = ByteBuffer.allocate(MessageCodec.MAX_BYTES);

    /** A message came; an exception closes the connection. */
    abstract void received(ChannelHandlerContext context, Message message) throws IOException;

    /** The connection cannot go on. */
    abstract void broken(ChannelHandlerContext context, Throwable cause);

    @Override
    public final void channelRead(ChannelHandlerContext context, Object input) throws IOException {
        ByteBuf bytes = (ByteBuf) input;
        try {
            messages(context, bytes);
        } finally {
            bytes.release();
        }
    }

    private void messages(ChannelHandlerContext context, ByteBuf bytes) throws IOException {
        while (bytes.isReadable() && context.channel().isOpen()) {
            int taken = Math.min(bytes.readableBytes(), gathered.remaining());
            bytes.readBytes(gathered.array(), gathered.position(), taken);
            gathered.position(gathered.position() + taken).flip();
            for (Message next = MessageCodec.decode(gathered); next != null; next = MessageCodec
                    .decode(gathered)) {
                received(context, next);
            }
            gathered.compact();
        }
    }

    final void send(ChannelHandlerContext context, Message message) throws MessageException {
        if (!context.channel().isWritable()) {
            throw new MessageException("the peer does not read its answers");
        }
        context.writeAndFlush(Unpooled.wrappedBuffer(MessageCodec.encode(message)))
                .addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
    }

    @Override
    public final void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        broken(context, cause);
    }
}
