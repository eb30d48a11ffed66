package io.railhead.os;

/**
 * A memfd: memory that two processes share by passing its descriptor. The owner closes it; mappings
 * made from it outlive the descriptor.
 */
public final class MemoryFile implements AutoCloseable {
    private final int descriptor;
    private final long bytes;

    MemoryFile(int descriptor, long bytes) {
        this.descriptor = descriptor;
        this.bytes = bytes;
    }

    /** A new memfd of {@code bytes} bytes, sealed against shrinking and growing. */
    public static MemoryFile create(String name, long bytes) {
        throw new UnsupportedOperationException();
    }

    /**
     * Takes over a descriptor that came from another process. Throws {@link OsException}, and
     * closes the descriptor, unless it is a memfd on tmpfs sealed with F_SEAL_SHRINK: one that can
     * shrink would let its owner crash whoever copies into it.
     */
    public static MemoryFile adopt(int descriptor) {
        throw new UnsupportedOperationException();
    }

    public int descriptor() {
        return descriptor;
    }

    public long bytes() {
        return bytes;
    }

    /** Maps the whole file, shared, readable and writable. */
    public Mapping map() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
