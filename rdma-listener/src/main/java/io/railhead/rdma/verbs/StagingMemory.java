package io.railhead.rdma.verbs;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import io.railhead.cache.memory.PageSlice;
import io.railhead.os.adapter.Adapter;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Memory that the peer of one queue pair may write, and nobody else: it has a protection domain of
 * its own, which that queue pair alone is in, so that no other peer's key or guess leads here. Owns
 * memory, registration and domain.
 *
 * <pre>
 *   the peer writes ──revoke──▶ the gateway reads ──close, once the queue pair is gone──▶ freed
 * </pre>
 *
 * The control thread revokes and closes; any thread reads.
 */
final class StagingMemory {
    private final Adapter adapter;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final IbvPd domain;
    private final int key;
    private @Nullable IbvMr registration;
    private boolean closed;

    /** Pins the memory: slow. */
    StagingMemory(Adapter adapter, long bytes) throws IOException {
        this.adapter = adapter;
        memory = arena.allocate(bytes, ValueLayout.JAVA_LONG.byteAlignment());
        IbvPd own = null;
        try {
            own = adapter.context().allocPd();
            IbvMr mine = adapter.verbs()
                    .register(own, memory.address(), bytes,
                            IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE);
            registration = mine;
            key = mine.getRkey();
            domain = own;
        } catch (IOException | RuntimeException | Error e) {
            if (own != null) {
                Adapter.tryFree(own, e);
            }
            arena.close();
            throw e;
        }
    }

    IbvPd domain() {
        return domain;
    }

    long address() {
        return memory.address();
    }

    long bytes() {
        return memory.byteSize();
    }

    /** The peer's right. */
    int key() {
        return key;
    }

    /** When it has returned, the peer cannot change a byte any more. Control thread. */
    void revoke() throws IOException {
        IbvMr mine = registration;
        if (mine != null) {
            adapter.verbs().deregister(mine);
            registration = null;
        }
    }

    /** False where the memory is gone already; else the slice's bytes are those at {@code from}. */
    synchronized boolean tryCopyTo(PageSlice slice, long from) {
        if (closed) {
            return false;
        }
        long at = from;
        for (MemorySegment stretch : slice.segments()) {
            MemorySegment.copy(memory, at, stretch, 0, stretch.byteSize());
            at += stretch.byteSize();
        }
        return true;
    }

    /**
     * After its queue pair is gone; waits while bytes are being read. Control thread. Where it
     * throws nothing is freed: the adapter may still write there.
     */
    void close() throws IOException {
        revoke();
        IOException failure = new IOException("staging memory could not be given back");
        Adapter.tryFree(domain, failure);
        if (failure.getSuppressed().length > 0) {
            throw failure;
        }
        synchronized (this) {
            closed = true;
            arena.close();
        }
    }
}
