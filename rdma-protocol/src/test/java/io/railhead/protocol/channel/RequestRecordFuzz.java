package io.railhead.protocol.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.railhead.protocol.message.MessageException;
import io.railhead.protocol.message.MessageHeader;
import java.nio.ByteBuffer;

/** Request records of a message: refused, or what would be written as exactly these bytes. */
public final class RequestRecordFuzz {

    private RequestRecordFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length > MessageHeader.MAX_MESSAGE_BYTES) {
            return;
        }
        ByteBuffer message = ByteBuffer.wrap(input).order(LITTLE_ENDIAN);
        ByteBuffer again = ByteBuffer.allocate(input.length).order(LITTLE_ENDIAN);
        RequestView view = new RequestView();
        int at = 0;
        try {
            while (at < input.length) {
                at = view.wrap(message, at, input.length);
                if (!view.nameEquals(view.name())
                        || !RequestCodec.tryEncode(view.toRequest(), again)) {
                    throw new AssertionError("read, but cannot be written");
                }
            }
        } catch (MessageException e) {
            // As it should be; what came before it holds.
        }
        if (!again.flip().equals(message.slice(0, again.limit()))) {
            throw new AssertionError("read as something else");
        }
    }
}
