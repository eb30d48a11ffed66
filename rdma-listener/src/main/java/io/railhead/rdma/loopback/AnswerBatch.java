package io.railhead.rdma.loopback;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerCodec;
import io.railhead.protocol.message.MessageException;
import io.railhead.protocol.message.MessageHeader;
import java.nio.ByteBuffer;

/** Answers to be sent, gathered into as few messages as possible. Event loop only. */
final class AnswerBatch {
    private final ChannelHandlerContext context;
    private final ByteBuffer message = ByteBuffer.allocate(MessageHeader.MAX_MESSAGE_BYTES)
            .order(LITTLE_ENDIAN)
            .position(MessageHeader.BYTES);
    private boolean unflushed;

    AnswerBatch(ChannelHandlerContext context) {
        this.context = context;
    }

    void add(Answer answer) throws MessageException {
        if (!AnswerCodec.tryEncode(answer, message)) {
            write();
            if (!AnswerCodec.tryEncode(answer, message)) {
                throw new IllegalStateException("an answer fits into an empty message");
            }
        }
    }

    /** Writes everything to the socket. */
    void flush() throws MessageException {
        write();
        if (unflushed) {
            unflushed = false;
            context.flush();
        }
    }

    private void write() throws MessageException {
        int bytes = message.position();
        if (bytes == MessageHeader.BYTES) {
            return;
        }
        if (!context.channel().isWritable()) {
            throw new MessageException("the peer does not read its answers");
        }
        MessageHeader.put(message, 0, MessageHeader.ANSWERS, bytes - MessageHeader.BYTES);
        ByteBuf copy = context.alloc().directBuffer(bytes);
        copy.writeBytes(message.array(), 0, bytes);
        message.position(MessageHeader.BYTES);
        var _ = context.write(copy, context.voidPromise());
        unflushed = true;
    }
}
