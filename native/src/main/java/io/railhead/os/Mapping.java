package io.railhead.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * A range of memory from mmap(2), outside the heap. Its creator owns it and unmaps it with
 * {@link #close}. The segment of a closed mapping throws {@link IllegalStateException} on access.
 * Any thread may use the segment; one thread closes.
 */
public final class Mapping implements AutoCloseable {
    private static final long POPULATED_AT_ONCE = 4L << 20;
    private static final long BASE_PAGE_BYTES = 4096;
    private static final VarHandle INT = JAVA_INT.varHandle();

    private final Arena arena;
    private final MemorySegment segment;

    private Mapping(Arena arena, MemorySegment segment) {
        this.arena = arena;
        this.segment = segment;
    }

    /**
     * Returns zeroed anonymous private memory, in transparent huge pages if the machine provides
     * them. Reserved huge pages need a {@link MemoryFile}.
     */
    public static Mapping anonymous(long bytes) {
        requirePositive(bytes);
        Mapping mapping = of(Libc.mmap(bytes, Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS, -1), bytes);
        try {
            Libc.madvise(mapping.segment.address(), bytes, Libc.MADV_HUGEPAGE);
        } catch (OsException unsupported) {
            if (unsupported.errno() != Libc.EINVAL) {
                mapping.close();
                throw unsupported;
            }
        }
        return mapping;
    }

    static Mapping shared(int descriptor, long bytes) {
        requirePositive(bytes);
        return of(Libc.mmap(bytes, Libc.MAP_SHARED, descriptor), bytes);
    }

    private static Mapping of(long address, long bytes) {
        Arena arena = Arena.ofShared();
        return new Mapping(arena, Libc.view(address, bytes, arena));
    }

    private static void requirePositive(long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("bytes must be > 0: " + bytes);
        }
    }

    public MemorySegment segment() {
        return segment;
    }

    /**
     * Faults in every page now, so that no later access does (madvise MADV_POPULATE_WRITE). It
     * works piece by piece, since the kernel blocks every other mapping call of the process
     * meanwhile, and a starting JVM makes thousands.
     */
    public void populate() {
        try {
            for (long at = 0; at < segment.byteSize(); at += POPULATED_AT_ONCE) {
                Libc.madvise(segment.address() + at,
                        Math.min(POPULATED_AT_ONCE, segment.byteSize() - at),
                        Libc.MADV_POPULATE_WRITE);
            }
        } catch (OsException old) {
            if (old.errno() != Libc.EINVAL) {
                throw old;
            }
            touch();
        }
    }

    /**
     * Faults pages in on kernels before 5.14; adding zero keeps bytes that another process may be
     * writing.
     */
    void touch() {
        for (long at = 0; at < segment.byteSize(); at += BASE_PAGE_BYTES) {
            INT.getAndAdd(segment, at, 0);
        }
    }

    /** Locks the pages in memory (mlock); throws {@link OsException} if the limit forbids it. */
    public void lock() {
        Libc.mlock(segment.address(), segment.byteSize());
    }

    @Override
    public void close() {
        arena.close();
    }
}
