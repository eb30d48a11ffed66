package io.railhead.protocol.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.railhead.protocol.message.MessageException;
import io.railhead.protocol.message.MessageHeader;
import java.nio.ByteBuffer;

/** Answer records of a message: refused, or what would be written as exactly these bytes. */
public final class AnswerRecordFuzz {

    private AnswerRecordFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length > MessageHeader.MAX_MESSAGE_BYTES) {
            return;
        }
        ByteBuffer message = ByteBuffer.wrap(input).order(LITTLE_ENDIAN);
        ByteBuffer again = ByteBuffer.allocate(input.length).order(LITTLE_ENDIAN);
        try {
            while (message.hasRemaining()) {
                if (!AnswerCodec.tryEncode(AnswerCodec.decode(message), again)) {
                    throw new AssertionError("read, but cannot be written");
                }
            }
        } catch (MessageException e) {
            // As it should be; what came before it holds.
        }
        if (!again.flip().equals(ByteBuffer.wrap(input, 0, again.limit()))) {
            throw new AssertionError("read as something else");
        }
    }
}
