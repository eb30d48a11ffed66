package io.railhead.protocol.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.railhead.protocol.message.MessageException;
import io.railhead.protocol.message.MessageHeader;
import java.nio.ByteBuffer;

/** Request records of a message: refused, or what would be written as exactly these bytes. */
public final class RequestRecordFuzz {

    private RequestRecordFuzz() {}

    /** Reads the keys, which are refused or all begin with the prefix. */
    private static void readKeys(RequestView view) {
        if (!view.operation().hasKeyBlock()) {
            return;
        }
        try {
            String[] keys = view.keys().keys(view.key());
            if (keys.length == 0 || keys.length > KeyBlock.MAX_KEYS) {
                throw new AssertionError("keys beyond the limits: " + keys.length);
            }
            for (String key : keys) {
                if (key.isEmpty() || !key.startsWith(view.key())) {
                    throw new AssertionError("a key without its prefix: " + key);
                }
            }
        } catch (MessageException e) {
            // A wrong block is the request's error; the record itself holds.
        }
    }

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
                readKeys(view);
            }
        } catch (MessageException e) {
            // As it should be; what came before it holds.
        }
        if (!again.flip().equals(message.slice(0, again.limit()))) {
            throw new AssertionError("read as something else");
        }
    }
}
