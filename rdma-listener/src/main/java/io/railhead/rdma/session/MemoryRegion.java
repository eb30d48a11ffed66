package io.railhead.rdma.session;

/** Memory that a peer registered. The session knows its address; only the fabric can touch it. */
public interface MemoryRegion {

    /** Returns the peer's own address of the first byte. */
    long baseAddress();

    /** Returns the length, at least 1; the range does not wrap around the address space. */
    long length();

    /**
     * Retires the region: no new transfer may touch it, and its memory is released when the running
     * ones have ended. Idempotent; returns at once.
     */
    void retire();

    /** Returns whether {@code [address, address + length)} lies inside; addresses are unsigned. */
    default boolean contains(long address, long length) {
        long skipped = address - baseAddress();
        return length > 0 && skipped >= 0 && skipped < length() && length <= length() - skipped
                && Long.compareUnsigned(address, baseAddress()) >= 0;
    }
}
