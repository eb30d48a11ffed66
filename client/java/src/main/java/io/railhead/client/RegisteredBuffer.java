package io.railhead.client;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Memory that a gateway writes or reads without a copy. Its owner closes it. Any thread.
 *
 * <p> The bytes of a request's range are the gateway's from the call until its stage has completed.
 * The owner must neither write them nor rely on their content. After a {@link MemoryHeldException}
 * they stay the gateway's; the buffer may be closed. All other bytes are the owner's. A
 * registration costs a round trip and is kept, also across sessions: use a buffer many times.
 */
public final class RegisteredBuffer implements AutoCloseable {
    private final FabricConnector.Memory ownedMemory;
    private final Consumer<RegisteredBuffer> deregister;
    /** The owner's hold, and one for each request in flight. Zero is terminal. */
    private final AtomicInteger holds = new AtomicInteger(1);
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean held;

    RegisteredBuffer(FabricConnector.Memory ownedMemory, Consumer<RegisteredBuffer> deregister) {
        this.ownedMemory = ownedMemory;
        this.deregister = deregister;
    }

    /** Returns the memory; access throws {@link IllegalStateException} once it is freed. */
    public MemorySegment memory() {
        return ownedMemory.segment();
    }

    public long bytes() {
        return ownedMemory.segment().byteSize();
    }

    FabricConnector.Memory source() {
        return ownedMemory;
    }

    /** Notes that a gateway may still touch the buffer. */
    void markHeld() {
        held = true;
    }

    boolean isHeld() {
        return held;
    }

    /** Keeps the memory for a request in flight, or for a borrower. */
    void hold() {
        for (int now = holds.get(); now > 0 && !closed.get(); now = holds.get()) {
            if (holds.compareAndSet(now, now + 1)) {
                return;
            }
        }
        throw new IllegalStateException("the buffer is closed");
    }

    void release() {
        if (holds.decrementAndGet() == 0) {
            // Deregistering blocks, and the last release may come from a thread of the fabric.
            Thread.ofVirtual().name("railhead-deregister").start(() -> {
                deregister.accept(this);
                ownedMemory.close();
            });
        }
    }

    /**
     * Closes the buffer. The memory is freed once no request in flight names it. Returns at once;
     * idempotent.
     */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            release();
        }
    }
}
