package io.railhead.gateway.trust;

import java.util.Map;

/** What a client was told, and what it got. */
public sealed interface Observation {

    /**
     * Success with bytes.
     *
     * @param etag as it was told
     * @param mark of the version; -1 where answers of this kind do not tell
     * @param first where in the object they begin
     * @param clipped whether there was room for so many bytes only
     */
    @SuppressWarnings("ArrayRecordComponent") // Compared with nothing, handed to one judge.
    record Read(String etag, long mark, long sizeBytes, int first, byte[] bytes, boolean clipped)
            implements
                Observation {}

    /** Success of a HEAD. */
    record Described(String etag, long mark, long sizeBytes) implements Observation {}

    /** There is no such object. */
    record Absent() implements Observation {}

    /** The object has no such range. */
    record Unsatisfiable() implements Observation {}

    /** A write that the store has done, it says. */
    record Written() implements Observation {}

    /** ETags by key. */
    record Listed(Map<String, String> etags) implements Observation {}

    /**
     * 403.
     *
     * @param begun whether some of the object had come by then
     */
    record Refused(String text, boolean begun) implements Observation {}

    /** Said to be served in another way only. */
    record Declined(String reason) implements Observation {}

    /** An error, or no whole answer: what may be wherever something has failed. */
    record Failed(String how) implements Observation {}

    /** What must never be, whatever has failed. */
    record Wrong(String how) implements Observation {}
}
