package io.railhead.rdma.adapter;

import static java.util.Objects.requireNonNull;

import com.ibm.disni.verbs.IbvMr;
import io.railhead.os.verbs.VerbsExtensions;
import io.railhead.rdma.session.MessageHeader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Registered buffers for the messages of one connection, each as long as the longest message. It
 * owns memory and registration.
 */
public final class MessageMemory implements AutoCloseable {
    private static final int BUFFER_BYTES = MessageHeader.MAX_MESSAGE_BYTES;

    private final Arena arena;
    private final long address;
    private final ByteBuffer[] buffers;
    private final @Nullable Registration registration;

    private record Registration(VerbsExtensions verbs, IbvMr memory) {}

    private MessageMemory(Adapter adapter, Arena arena, int count) throws IOException {
        this.arena = arena;
        MemorySegment memory = arena.allocate((long) count * BUFFER_BYTES, BUFFER_BYTES);
        address = memory.address();
        buffers = new ByteBuffer[count];
        for (int i = 0; i < count; i++) {
            buffers[i] = memory.asSlice((long) i * BUFFER_BYTES, BUFFER_BYTES)
                    .asByteBuffer()
                    .order(ByteOrder.LITTLE_ENDIAN);
        }
        registration = new Registration(adapter.verbs(),
                adapter.register(memory, IbvMr.IBV_ACCESS_LOCAL_WRITE));
    }

    private MessageMemory(int count) {
        arena = Arena.ofAuto();
        address = 0;
        buffers = new ByteBuffer[count];
        Arrays.fill(buffers, ByteBuffer.allocate(0));
        registration = null;
    }

    /** For messages without bodies: nothing is registered, and there is nothing to close. */
    public static MessageMemory bodiless(int count) {
        return new MessageMemory(count);
    }

    public boolean hasBodies() {
        return registration != null;
    }

    public static MessageMemory register(Adapter adapter, int count) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            return new MessageMemory(adapter, arena, count);
        } catch (IOException | RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    public int count() {
        return buffers.length;
    }

    public long address(int buffer) {
        return address + (long) buffer * BUFFER_BYTES;
    }

    public int localKey() {
        return requireNonNull(registration).memory().getLkey();
    }

    /** The buffer, all of it, little-endian. The same object each time. */
    public ByteBuffer buffer(int buffer) {
        return buffers[buffer].clear();
    }

    /** The buffer as whoever used it last left it. */
    public ByteBuffer used(int buffer) {
        return buffers[buffer];
    }

    @Override
    public void close() {
        if (registration == null) {
            return;
        }
        try {
            registration.verbs().deregister(registration.memory());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            arena.close();
        }
    }
}
