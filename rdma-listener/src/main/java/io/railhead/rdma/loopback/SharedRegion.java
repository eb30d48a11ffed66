package io.railhead.rdma.loopback;

import io.railhead.rdma.session.MemoryRegion;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A peer's registered memory. This object owns the mapping or the attached handle.
 *
 * <p> Its count starts at one, which {@link #retire} drops. Each copy holds another while it may
 * run. Zero is terminal: then the memory is unmapped on the executor, since unmapping would block
 * an event loop.
 */
final class SharedRegion implements MemoryRegion {
    private final long baseAddress;
    private final long length;
    private final PeerMemory ownedMemory;
    private final Executor unmapper;
    private final Runnable whenUnmapped;
    private final AtomicInteger holds = new AtomicInteger(1);
    private final AtomicBoolean retired = new AtomicBoolean();
    private final CompletableFuture<Void> unmapped = new CompletableFuture<>();

    /** @param whenUnmapped runs on the unmapper after the memory was unmapped */
    SharedRegion(long baseAddress, long length, PeerMemory ownedMemory, Executor unmapper,
            Runnable whenUnmapped) {
        this.baseAddress = baseAddress;
        this.length = length;
        this.ownedMemory = ownedMemory;
        this.unmapper = unmapper;
        this.whenUnmapped = whenUnmapped;
    }

    @Override
    public long baseAddress() {
        return baseAddress;
    }

    @Override
    public long length() {
        return length;
    }

    /** Returns the registered bytes; the caller must hold the region. */
    PeerMemory memory() {
        return ownedMemory;
    }

    boolean tryRetain() {
        for (int now = holds.get(); now != 0 && !retired.get(); now = holds.get()) {
            if (holds.compareAndSet(now, now + 1)) {
                return true;
            }
        }
        return false;
    }

    void release() {
        int left = holds.decrementAndGet();
        if (left < 0) {
            throw new IllegalStateException("region released more often than retained");
        }
        if (left == 0) {
            unmapper.execute(this::unmap);
        }
    }

    @Override
    public void retire() {
        if (retired.compareAndSet(false, true)) {
            release();
        }
    }

    /** Completes when nothing in this process can touch the peer's memory any more. */
    CompletionStage<Void> unmapped() {
        return unmapped;
    }

    private void unmap() {
        try {
            ownedMemory.close();
            whenUnmapped.run();
            unmapped.complete(null);
        } catch (RuntimeException | Error e) {
            unmapped.completeExceptionally(e);
        }
    }
}
