package io.railhead.rdma.verbs;

import com.ibm.disni.verbs.IbvMr;
import io.railhead.os.verbs.VerbsExtensions;
import io.railhead.rdma.session.MessageHeader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Registered buffers for the messages of one connection, each as long as the longest message. It
 * owns memory and registration.
 */
final class MessageMemory implements AutoCloseable {
    private static final int BUFFER_BYTES = MessageHeader.MAX_MESSAGE_BYTES;

    private final VerbsExtensions verbs;
    private final Arena arena;
    private final long address;
    private final ByteBuffer[] buffers;
    private final IbvMr registration;

    private MessageMemory(Adapter adapter, Arena arena, int count) throws IOException {
        this.verbs = adapter.verbs();
        this.arena = arena;
        MemorySegment memory = arena.allocate((long) count * BUFFER_BYTES, BUFFER_BYTES);
        address = memory.address();
        buffers = new ByteBuffer[count];
        for (int i = 0; i < count; i++) {
            buffers[i] = memory.asSlice((long) i * BUFFER_BYTES, BUFFER_BYTES)
                    .asByteBuffer()
                    .order(ByteOrder.LITTLE_ENDIAN);
        }
        registration = adapter.register(memory, IbvMr.IBV_ACCESS_LOCAL_WRITE);
    }

    static MessageMemory register(Adapter adapter, int count) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            return new MessageMemory(adapter, arena, count);
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    int count() {
        return buffers.length;
    }

    long address(int buffer) {
        return address + (long) buffer * BUFFER_BYTES;
    }

    int localKey() {
        return registration.getLkey();
    }

    /** The buffer, all of it, little-endian. The same object each time. */
    ByteBuffer buffer(int buffer) {
        return buffers[buffer].clear();
    }

    /** The buffer as whoever used it last left it. */
    ByteBuffer used(int buffer) {
        return buffers[buffer];
    }

    @Override
    public void close() {
        try {
            verbs.deregister(registration);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            arena.close();
        }
    }
}
