package io.railhead.cli.bench;

/**
 * A request that is made once, and measured from its first byte to its last.
 *
 * @param key of the object
 * @param query of the request, in its signed form; may be empty
 * @param bytes that each connection, or all of them together, reads or writes
 * @param pieceBytes of each ranged request; as many as {@code bytes} for one request of all
 */
record OneShotRequest(Kind kind, String key, String query, long bytes, long pieceBytes) {

    /** Who does what. */
    enum Kind {
        /** The connections share the pieces, each taking the next. */
        READ_TOGETHER,
        /** Each connection reads all of it. */
        READ_EACH,
        /** One connection writes. */
        PUT,
        /** The connections share the parts of an upload. */
        PARTS
    }

    boolean writes() {
        return kind == Kind.PUT || kind == Kind.PARTS;
    }

    int pieces() {
        return Math.toIntExact(Math.ceilDiv(bytes, pieceBytes));
    }

    long length(int piece) {
        return Math.min(pieceBytes, bytes - piece * pieceBytes);
    }
}
