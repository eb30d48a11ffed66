package io.railhead.rdma.session;

/**
 * Memory that a peer registered, as its fabric holds it. The session knows where it lies; only the
 * fabric can touch it.
 */
public interface MemoryRegion {

    /** The peer's own address of the first byte. */
    long baseAddress();

    /** At least 1; base and length do not wrap around the address space. */
    long length();

    /**
     * The peer's right ended: no new transfer may touch the region, and its memory goes when the
     * running ones have ended. Idempotent; returns at once.
     */
    void retire();

    /** Whether {@code [address, address + length)} lies inside; addresses are unsigned. */
    default boolean contains(long address, long length) {
        long skipped = address - baseAddress();
        return length > 0 && skipped >= 0 && skipped < length() && length <= length() - skipped
                && Long.compareUnsigned(address, baseAddress()) >= 0;
    }
}
