package io.railhead.client;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Memory that a gateway writes into, or reads from, without a copy in between. Its owner closes it.
 * Any thread.
 *
 * <p> The bytes of a request's range are the gateway's from the call until its stage has completed:
 * nobody may write there, and what is read there means nothing. After a {@link MemoryHeldException}
 * they stay the gateway's; the buffer may be closed. All others are the owner's. The registration
 * costs a round trip and is kept, also when the session has to be opened again: use a buffer many
 * times.
 */
public final class RegisteredBuffer implements AutoCloseable {
    private final FabricConnector.Memory ownedMemory;
    private final Consumer<RegisteredBuffer> deregister;
    /** The owner's own, and one for each request in flight. Zero is terminal. */
    private final AtomicInteger holds = new AtomicInteger(1);
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean held;

    RegisteredBuffer(FabricConnector.Memory ownedMemory, Consumer<RegisteredBuffer> deregister) {
        this.ownedMemory = ownedMemory;
        this.deregister = deregister;
    }

    /** The memory itself; throws {@link IllegalStateException} on access once it is gone. */
    public MemorySegment memory() {
        return ownedMemory.segment();
    }

    public long bytes() {
        return ownedMemory.segment().byteSize();
    }

    FabricConnector.Memory source() {
        return ownedMemory;
    }

    /** A gateway that may still touch it did not let go. */
    void markHeld() {
        held = true;
    }

    boolean isHeld() {
        return held;
    }

    /** Keeps the memory for a request in flight, or whoever it is lent to. */
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
            // Deregistering blocks, and the last to let go may be a thread of the fabric's.
            Thread.ofVirtual().name("railhead-deregister").start(() -> {
                deregister.accept(this);
                ownedMemory.close();
            });
        }
    }

    /** The memory goes once no request in flight names it. Returns at once; idempotent. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            release();
        }
    }
}
