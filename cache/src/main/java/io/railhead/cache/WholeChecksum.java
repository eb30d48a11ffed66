package io.railhead.cache;

import java.util.zip.Checksum;

/**
 * A store's checksum of all bytes of one version, in an algorithm that combines the checksums of
 * adjacent parts. Any thread.
 */
public interface WholeChecksum {

    /** Returns a new checksum for one part. */
    Checksum part();

    /**
     * Returns whether parts with these checksums combine, in order, to this checksum.
     *
     * @param sums checksums of parts of {@code partBytes} each, the last one of {@code lastBytes}
     */
    boolean isOf(long[] sums, long partBytes, long lastBytes);
}
