package io.railhead.rdma.loopback;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.MessageException;
import io.railhead.protocol.message.MessageHeader;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The gateway's end of a loopback connection: turns bytes into messages, one at a time, in a buffer
 * of the longest message's size. Event loop only.
 *
 * <p> A connection whose answers are not read is closed: a correct peer never has more answers
 * outstanding than credits.
 */
abstract class MessageHandler extends ChannelInboundHandlerAdapter {
    private final ByteBuffer gathered = ByteBuffer.allocate(MessageHeader.MAX_MESSAGE_BYTES)
            .order(LITTLE_ENDIAN);
    /** True after the first fault: further bytes have no meaning. */
    private boolean deaf;

    /**
     * Handles a message; an exception closes the connection.
     *
     * @param message little-endian, and valid only during the call
     * @param payload the offset of the message's payload
     * @param end the offset of the payload's end
     */
    abstract void received(ChannelHandlerContext context, int type, ByteBuffer message, int payload,
            int end) throws IOException;

    /** Handles a connection that cannot go on. */
    abstract void broken(ChannelHandlerContext context, Throwable cause);

    @Override
    public final void channelRead(ChannelHandlerContext context, Object input) throws IOException {
        ByteBuf bytes = (ByteBuf) input;
        try {
            while (bytes.isReadable() && !deaf && context.channel().isOpen()) {
                gather(bytes);
                messages(context);
            }
        } catch (IOException | RuntimeException | Error e) {
            deaf = true;
            throw e;
        } finally {
            bytes.release();
        }
    }

    private void gather(ByteBuf bytes) {
        int taken = Math.min(bytes.readableBytes(), gathered.remaining());
        bytes.readBytes(gathered.array(), gathered.position(), taken);
        gathered.position(gathered.position() + taken);
    }

    private void messages(ChannelHandlerContext context) throws IOException {
        int limit = gathered.position();
        int at = 0;
        while (limit - at >= MessageHeader.BYTES) {
            int type = MessageHeader.requireType(gathered, at);
            int payload = at + MessageHeader.BYTES;
            int end = payload + MessageHeader.payloadBytes(gathered, at);
            if (end > limit) {
                break;
            }
            received(context, type, gathered, payload, end);
            at = end;
        }
        gathered.flip().position(at).compact();
    }

    final void send(ChannelHandlerContext context, Message message) throws MessageException {
        send(context, Unpooled.wrappedBuffer(MessageCodec.encode(message)));
    }

    final void send(ChannelHandlerContext context, ByteBuf ownedBytes) throws MessageException {
        if (!context.channel().isWritable()) {
            ownedBytes.release();
            throw new MessageException("the peer does not read its answers");
        }
        context.writeAndFlush(ownedBytes).addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
    }

    @Override
    public final void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        broken(context, cause);
    }
}
