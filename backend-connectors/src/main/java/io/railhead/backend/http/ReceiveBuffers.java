package io.railhead.backend.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import java.nio.ByteBuffer;

/**
 * The buffers that the kernel writes received bytes into. While a response's body of known length
 * is expected, that is the memory of the body's reader, never longer than the rest of the body. So
 * no byte behind the body can land there. One instance for each connection, on its event loop.
 */
final class ReceiveBuffers extends DefaultMaxMessagesRecvByteBufAllocator {
    /** A head, and the beginning of its body, which is copied. */
    private static final int HEAD_BYTES = 16 << 10;
    /** A piece of a body that its reader takes piece by piece. */
    private static final int PIECE_BYTES = 64 << 10;
    /** The reads of one connection before other connections of its event loop have their turn. */
    private static final int READS_AT_A_TIME = 4;

    private final StoreConnection connection;

    ReceiveBuffers(StoreConnection connection) {
        super(READS_AT_A_TIME);
        this.connection = connection;
    }

    @Override
    public MaxMessageHandle newHandle() {
        return new MaxMessageHandle() {
            @Override
            public int guess() {
                return connection.isInBody() ? PIECE_BYTES : HEAD_BYTES;
            }

            @Override
            public boolean continueReading(UncheckedBooleanSupplier maybeMoreData) {
                return super.continueReading(maybeMoreData) || connection.mustLookBehind();
            }

            @Override
            public ByteBuf allocate(ByteBufAllocator allocator) {
                ByteBuffer room = connection.room();
                return room == null
                        ? allocator.directBuffer(guess())
                        : Unpooled.wrappedBuffer(room).clear();
            }
        };
    }
}
