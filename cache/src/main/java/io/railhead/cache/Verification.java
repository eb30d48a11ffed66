package io.railhead.cache;

/**
 * The detection of bytes that have changed in memory: each page's CRC32C is known from its fill.
 *
 * @param beforeReads whether a page is read through before any of it is handed out
 * @param scrubBytesPerSecond how fast all pages are looked at in the background, again and again;
 *            0: not at all
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
     * What it came to since the start.
     *
     * @param corruptAtRead pages that were evicted instead of being read
     * @param corruptAtScrub pages that were evicted by the background
     */
    public record Counts(long corruptAtRead, long corruptAtScrub, long scrubbedBytes) {}
}
