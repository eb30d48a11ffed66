package io.railhead.cache.disk;

/**
 * One file or device of the configuration.
 *
 * @param reason why it is refused; "" otherwise
 * @param bytes its size, and the three others; 0 unless it is open
 */
public record VolumeState(String path, State state, String reason, long bytes, long pages,
        long heldBytes, long writtenBytes) {

    /** The part that a file or device takes. */
    public enum State {
        /** Being opened. */
        OPENING,
        /** Read already; nothing is written until all its pages are known. */
        RECOVERING,
        WORKING,
        /** Failing or hanging, and left alone for now. */
        BROKEN,
        /** The gateway does without it until a restart. */
        REFUSED
    }

    static VolumeState unopened(String path, State state, String reason) {
        return new VolumeState(path, state, reason, 0, 0, 0, 0);
    }
}
