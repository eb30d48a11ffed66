package io.railhead.cache;

import java.util.zip.Checksum;

/**
 * A store's checksum of all bytes of one version, in an algorithm that combines the checksums of
 * adjacent parts. Any thread.
 */
public interface WholeChecksum {

    /** The sum of one part, to be computed. */
    Checksum part();

    /**
     * Whether it is what parts of these sums make, in their order.
     *
     * @param sums of parts that have {@code partBytes} each, the last one {@code lastBytes}
     */
    boolean isOf(long[] sums, long partBytes, long lastBytes);
}
