package io.railhead.rdma.loopback;

import io.railhead.rdma.session.MemoryRegion;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A peer's memory, as this process reaches it: it owns that way.
 *
 * <p> Its count starts at one, the registration's own, which {@link #retire} gives back. Each copy
 * holds another while it may run. Zero is terminal: then the mapping goes, on the executor, since
 * unmapping takes time that an event loop does not have.
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

    /**
     * @param whenUnmapped runs once the memory is gone, on the unmapper
     */
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

    /** The registered bytes, for one who holds the region. */
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

    /** Completes when nothing of this process can touch the peer's memory any more. */
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
