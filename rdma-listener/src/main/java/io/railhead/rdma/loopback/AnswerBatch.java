package io.railhead.rdma.loopback;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.railhead.rdma.channel.Answer;
import io.railhead.rdma.channel.AnswerCodec;
import io.railhead.rdma.session.MessageException;
import io.railhead.rdma.session.MessageHeader;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Answers on their way, gathered into as few messages as hold them. Event loop only. */
final class AnswerBatch {
    private final ChannelHandlerContext context;
    private @Nullable ByteBuf message;
    private ByteBuffer records = ByteBuffer.allocate(0);
    private boolean unflushed;

    AnswerBatch(ChannelHandlerContext context) {
        this.context = context;
    }

    void add(Answer answer) throws MessageException {
        if (message == null) {
            begin();
        }
        if (!AnswerCodec.tryEncode(answer, records)) {
            write();
            begin();
            if (!AnswerCodec.tryEncode(answer, records)) {
                throw new IllegalStateException("an answer fits into an empty message");
            }
        }
    }

    /** Hands everything to the socket. */
    void flush() throws MessageException {
        write();
        if (unflushed) {
            unflushed = false;
            context.flush();
        }
    }

    private void begin() {
        ByteBuf fresh = context.alloc()
                .directBuffer(MessageHeader.MAX_MESSAGE_BYTES,
                        MessageHeader.MAX_MESSAGE_BYTES);
        message = fresh;
        records = fresh.internalNioBuffer(0, MessageHeader.MAX_MESSAGE_BYTES)
                .slice()
                .order(LITTLE_ENDIAN)
                .position(MessageHeader.BYTES);
    }

    private void write() throws MessageException {
        if (message == null) {
            return;
        }
        ByteBuf full = message;
        message = null;
        MessageHeader.put(records, 0, MessageHeader.ANSWERS,
                records.position() - MessageHeader.BYTES);
        full.writerIndex(records.position());
        if (!context.channel().isWritable()) {
            full.release();
            throw new MessageException("the peer does not read its answers");
        }
        var _ = context.write(full, context.voidPromise());
        unflushed = true;
    }

    /** Gives up what was not flushed. */
    void drop() {
        if (message != null) {
            message.release();
            message = null;
        }
    }
}
