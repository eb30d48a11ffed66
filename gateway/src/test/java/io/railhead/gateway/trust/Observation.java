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
     * @param way how they came
     */
    @SuppressWarnings("ArrayRecordComponent") // Compared with nothing, handed to one judge.
    record Read(String etag, long mark, long sizeBytes, int first, byte[] bytes, Way way)
            implements
                Observation {}

    /** How bytes came. */
    enum Way {
        IN_A_BODY,
        /** Also, but as the store said them: one that knows no ranges sends all. */
        RELAYED,
        INTO_A_BUFFER,
        /** As the store sent them, and kept by nobody. */
        RELAYED_INTO_A_BUFFER;

        public boolean isOneSided() {
            return this == INTO_A_BUFFER || this == RELAYED_INTO_A_BUFFER;
        }

        boolean isRelayed() {
            return this == RELAYED || this == RELAYED_INTO_A_BUFFER;
        }
    }

    /**
     * Success whose bytes ended too soon.
     *
     * @param come as far as it came
     * @param left whether who asked ended it
     */
    record Cut(Read come, boolean left) implements Observation {}

    /** Success of a HEAD. */
    record Described(String etag, long mark, long sizeBytes) implements Observation {}

    /** There is no such object. */
    record Absent() implements Observation {}

    /** The object has no such range. */
    record Unsatisfiable() implements Observation {}

    /**
     * A write that is done, it says.
     *
     * @param level where, as the header {@code x-railhead-acknowledged} names it; empty without
     */
    record Written(String level) implements Observation {
        public Written() {
            this("");
        }
    }

    /** ETags by key. */
    record Listed(Map<String, String> etags) implements Observation {}

    /**
     * 403.
     *
     * @param begun whether some of the object had come by then
     */
    record Refused(String text, boolean begun) implements Observation {}

    /**
     * Said to be served in another way only, or given up by who asked.
     *
     * @param begun whether some of the object had come by then
     */
    record Declined(String reason, boolean begun) implements Observation {
        public Declined(String reason) {
            this(reason, false);
        }
    }

    /**
     * An error, or no whole answer: what may be wherever something has failed.
     *
     * @param begun whether some of the object had come by then
     */
    record Failed(String how, boolean begun) implements Observation {
        public Failed(String how) {
            this(how, false);
        }
    }

    /** What must never be, whatever has failed. */
    record Wrong(String how) implements Observation {}
}
