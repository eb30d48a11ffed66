package io.railhead.backend;

import java.util.ArrayList;
import java.util.List;

/** The observed capabilities of a store; a missing one reduces what is cached. */
public record Capabilities(boolean ranges, boolean ifMatchOnRangedGet, boolean conditionalHead,
        boolean checksums,
        boolean trailers) {

    /**
     * The capabilities before the first probe. Every fill checks its response, so only trailers
     * must not be assumed. A response with a checksum is proof enough.
     */
    public static final Capabilities ASSUMED = new Capabilities(true, true, true, true, false);

    private static final List<String> CHECKSUMS = List.of("x-amz-checksum-crc32",
            "x-amz-checksum-crc32c", "x-amz-checksum-crc64nvme", "x-amz-checksum-sha1",
            "x-amz-checksum-sha256");

    /** Returns the same capabilities for a store that was seen to accept aws-chunked trailers. */
    public Capabilities withTrailers() {
        return new Capabilities(ranges, ifMatchOnRangedGet, conditionalHead, checksums, true);
    }

    /** Returns whether a response names a checksum of the object, of any algorithm. */
    public static boolean showChecksum(Headers response) {
        return CHECKSUMS.stream().anyMatch(response::contains);
    }

    /** Returns whether fills can be pinned to a version; otherwise nothing is cached. */
    public boolean isCacheable() {
        return ranges && ifMatchOnRangedGet;
    }

    /**
     * Describes the capabilities as {@code knows ranges, If-Match on a ranged GET; lacks
     * checksums}.
     */
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
