package io.railhead.os.adapter;

import static java.util.Objects.requireNonNull;

import com.ibm.disni.verbs.IbvMr;
import io.railhead.os.verbs.VerbsExtensions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Registered buffers of equal length for the messages of one connection. It owns memory and
 * registration.
 */
public final class MessageMemory implements AutoCloseable {
    private final Arena arena;
    private final long address;
    private final int bufferBytes;
    private final ByteBuffer[] buffers;
    private final @Nullable Registration registration;

    private record Registration(VerbsExtensions verbs, IbvMr memory) {}

    private MessageMemory(Adapter adapter, Arena arena, int count, int bufferBytes)
            throws IOException {
        this.arena = arena;
        this.bufferBytes = bufferBytes;
        MemorySegment memory = arena.allocate((long) count * bufferBytes, bufferBytes);
        address = memory.address();
        buffers = new ByteBuffer[count];
        for (int i = 0; i < count; i++) {
            buffers[i] = memory.asSlice((long) i * bufferBytes, bufferBytes)
                    .asByteBuffer()
                    .order(ByteOrder.LITTLE_ENDIAN);
        }
        registration = new Registration(adapter.verbs(),
                adapter.register(memory, IbvMr.IBV_ACCESS_LOCAL_WRITE));
    }

    private MessageMemory(int count) {
        arena = Arena.ofAuto();
        address = 0;
        bufferBytes = 0;
        buffers = new ByteBuffer[count];
        Arrays.fill(buffers, ByteBuffer.allocate(0));
        registration = null;
    }

    /** Returns memory for messages without bodies: nothing is registered or needs closing. */
    public static MessageMemory bodiless(int count) {
        return new MessageMemory(count);
    }

    public boolean hasBodies() {
        return registration != null;
    }

    /** @param bufferBytes the size of each buffer, a power of two */
    public static MessageMemory register(Adapter adapter, int count, int bufferBytes)
            throws IOException {
        Arena arena = Arena.ofShared();
        try {
            return new MessageMemory(adapter, arena, count, bufferBytes);
        } catch (IOException | RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    public boolean holds(int count, int bytes) {
        return buffers.length == count && bufferBytes == bytes;
    }

    public int count() {
        return buffers.length;
    }

    public long address(int buffer) {
        return address + (long) buffer * bufferBytes;
    }

    public int localKey() {
        return requireNonNull(registration).memory().getLkey();
    }

    /** Returns the whole buffer, little-endian; the same object each time. */
    public ByteBuffer buffer(int buffer) {
        return buffers[buffer].clear();
    }

    /** Returns the buffer with the position and limit of its last use. */
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
