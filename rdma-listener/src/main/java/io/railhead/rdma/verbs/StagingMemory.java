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
 * Memory that only the peer of one queue pair may write. It has its own protection domain with that
 * queue pair alone, so no other peer's key, known or guessed, reaches it. Owns memory, registration
 * and domain.
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

    /** Allocates and pins the memory: slow. */
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

    /** Returns the peer's key. */
    int key() {
        return key;
    }

    /** Revokes the peer's right: after the return the peer cannot change a byte. Control thread. */
    void revoke() throws IOException {
        IbvMr mine = registration;
        if (mine != null) {
            adapter.verbs().deregister(mine);
            registration = null;
        }
    }

    /** Copies bytes at {@code from} into the slice; false if the memory is freed already. */
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
     * Frees everything after its queue pair was destroyed; waits while bytes are being read.
     * Control thread. After an exception nothing is freed: the adapter may still write there.
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
