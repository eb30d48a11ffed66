package io.railhead.cache;

/**
 * The detection of bytes that have changed in memory: each page's CRC32C is known from its fill.
 *
 * @param beforeReads whether a page is verified before any of it is handed out
 * @param scrubBytesPerSecond the rate at which all pages are verified in the background, again and
 *            again; 0 for never
 */
public record Verification(boolean beforeReads, long scrubBytesPerSecond) {

    public static final Verification NONE = new Verification(false, 0);

    public Verification {
        if (scrubBytesPerSecond < 0) {
            throw new IllegalArgumentException(
                    "scrubBytesPerSecond must be >= 0: " + scrubBytesPerSecond);
        }
    }

    /**
     * The counters since the start.
     *
     * @param corruptAtRead pages that were evicted at a read
     * @param corruptAtScrub pages that were evicted by the scrubber
     */
    public record Counts(long corruptAtRead, long corruptAtScrub, long scrubbedBytes) {}
}
