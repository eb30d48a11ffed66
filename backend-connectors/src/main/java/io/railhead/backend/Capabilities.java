package io.railhead.backend;

/** What a store was seen to do; what it lacks narrows what is cached. */
public record Capabilities(boolean ranges, boolean ifMatchOnRangedGet, boolean conditionalHead,
        boolean checksums,
        boolean trailers) {

    /**
     * Before the first probe: every fill checks its answer, so only trailers must not be guessed.
     * An answer that shows a checksum is proof enough.
     */
    public static final Capabilities ASSUMED = new Capabilities(true, true, true, true, false);

    /** The same for a store that was seen to take aws-chunked trailers. */
    public Capabilities withTrailers() {
        return new Capabilities(ranges, ifMatchOnRangedGet, conditionalHead, checksums, true);
    }

    /** Whether fills can be pinned to a version: without that nothing is cached. */
    public boolean isCacheable() {
        return ranges && ifMatchOnRangedGet;
    }
}
