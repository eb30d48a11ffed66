package io.railhead.cache;

import java.util.zip.Checksum;

/**
 * What a store says of all bytes of one version of an object, in an algorithm that tells it from
 * the sums of adjacent parts. Any thread.
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
