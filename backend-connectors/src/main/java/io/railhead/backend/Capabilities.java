package io.railhead.backend;

import java.util.ArrayList;
import java.util.List;

/** Capabilities observed of a store; a missing one narrows what is cached. */
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

    /** As {@code knows ranges, If-Match on a ranged GET; lacks checksums}. */
    @Override
    public String toString() {
        List<String> knows = new ArrayList<>();
        List<String> lacks = new ArrayList<>();
        (ranges ? knows : lacks).add("ranges");
        (ifMatchOnRangedGet ? knows : lacks).add("If-Match on a ranged GET");
        (conditionalHead ? knows : lacks).add("If-None-Match on HEAD");
        (checksums ? knows : lacks).add("checksums");
        (trailers ? knows : lacks).add("trailers");
        return phrase("knows ", knows) + (knows.isEmpty() || lacks.isEmpty() ? "" : "; ")
                + phrase("lacks ", lacks);
    }

    private static String phrase(String verb, List<String> abilities) {
        return abilities.isEmpty() ? "" : verb + String.join(", ", abilities);
    }
}
