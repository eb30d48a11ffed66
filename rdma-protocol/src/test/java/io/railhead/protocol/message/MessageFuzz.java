package io.railhead.protocol.message;

import java.nio.ByteBuffer;

/** Messages of fixed length, one behind the other, as they come off a socket. */
public final class MessageFuzz {

    private MessageFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        ByteBuffer in = ByteBuffer.wrap(input);
        try {
            while (true) {
                int before = in.position();
                Message message = MessageCodec.decode(in);
                if (message == null) {
                    require(in.position() == before);
                    return;
                }
                int length = in.position() - before;
                require(MessageCodec.encode(message)
                        .equals(ByteBuffer.wrap(input, before, length)));
            }
        } catch (MessageException e) {
            // As it should be.
        }
    }

    private static void require(boolean kept) {
        if (!kept) {
            throw new AssertionError("read as something else");
        }
    }
}
