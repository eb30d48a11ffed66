package io.railhead.os;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A memfd: memory that two processes share by passing its descriptor. The owner closes it; mappings
 * made from it outlive the descriptor.
 */
public final class MemoryFile implements AutoCloseable {
    private final int descriptor;
    private final long bytes;
    /** A descriptor's number is reused: a second close would close another file. */
    private final AtomicBoolean closed = new AtomicBoolean();

    private MemoryFile(int descriptor, long bytes) {
        this.descriptor = descriptor;
        this.bytes = bytes;
    }

    /** Creates a memfd of {@code bytes} bytes, sealed against shrinking and growing. */
    public static MemoryFile create(String name, long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("bytes must be > 0: " + bytes);
        }
        return sealed(Libc.memfdCreate(name), bytes);
    }

    /**
     * Creates a memfd of huge pages. They are taken from the kernel at {@link #map}, which throws
     * {@link OsException} if there are too few.
     *
     * @param bytes a multiple of the page's size
     */
    public static MemoryFile create(String name, long bytes, HugePageSize pages) {
        if (bytes <= 0 || bytes % pages.bytes() != 0) {
            throw new IllegalArgumentException(
                    "bytes must be a multiple of " + pages + ": " + bytes);
        }
        return sealed(Libc.memfdCreate(name, pages.flags()), bytes);
    }

    private static MemoryFile sealed(int descriptor, long bytes) {
        try {
            Libc.ftruncate(descriptor, bytes);
            Libc.addSeals(descriptor, Libc.F_SEAL_SHRINK | Libc.F_SEAL_GROW | Libc.F_SEAL_SEAL);
        } catch (RuntimeException | Error e) {
            close(descriptor, e);
            throw e;
        }
        return new MemoryFile(descriptor, bytes);
    }

    /**
     * Takes over a descriptor from another process. Throws {@link OsException}, and closes the
     * descriptor, unless it is a memfd on tmpfs sealed with F_SEAL_SHRINK. By shrinking it, its
     * owner could otherwise crash a process that copies into it.
     */
    public static MemoryFile adopt(int descriptor) {
        try {
            if (Libc.fileSystemOf(descriptor) != Libc.TMPFS_MAGIC) {
                throw new OsException("not a memfd on tmpfs", 0);
            }
            if ((Libc.seals(descriptor) & Libc.F_SEAL_SHRINK) == 0) {
                throw new OsException("memfd is not sealed with F_SEAL_SHRINK", 0);
            }
            long bytes = Libc.sizeOf(descriptor);
            if (bytes == 0) {
                throw new OsException("memfd is empty", 0);
            }
            return new MemoryFile(descriptor, bytes);
        } catch (RuntimeException | Error e) {
            close(descriptor, e);
            throw e;
        }
    }

    public int descriptor() {
        return descriptor;
    }

    public long bytes() {
        return bytes;
    }

    /** Maps the whole file, shared, readable and writable. */
    public Mapping map() {
        return map(bytes);
    }

    /** Maps the first bytes of the file, shared, readable and writable. */
    public Mapping map(long firstBytes) {
        if (closed.get()) {
            throw new IllegalStateException("the memory file is closed");
        }
        if (firstBytes > bytes) {
            throw new IllegalArgumentException(firstBytes + " of " + bytes + " bytes");
        }
        return Mapping.shared(descriptor, firstBytes);
    }

    /** Closes the descriptor; further calls do nothing. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            Libc.close(descriptor);
        }
    }

    private static void close(int descriptor, Throwable cause) {
        try {
            Libc.close(descriptor);
        } catch (OsException e) {
            cause.addSuppressed(e);
        }
    }
}
