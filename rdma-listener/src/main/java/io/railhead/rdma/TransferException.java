package io.railhead.rdma;

import static java.util.Objects.requireNonNull;

/** The reason why a transfer was refused or aborted. */
public final class TransferException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The reasons, each with its own S3 error and its own counter. */
    public enum Reason {
        /** There is no such session, or it has ended. */
        UNKNOWN_SESSION,
        /** The session belongs to another principal. */
        FOREIGN_SESSION,
        /** The session has no buffer with this key. */
        UNKNOWN_KEY,
        /** The address, or address plus length, lies outside the buffer. */
        OUT_OF_BOUNDS,
        /** The peer is alive, but its memory could not be accessed by this key and range. */
        REMOTE_ACCESS,
        /** The peer went away. */
        PEER_GONE,
        /** The request's own deadline or end fenced the transfer. */
        FENCED,
        /** The fabric is down. */
        UNAVAILABLE
    }

    private final Reason reason;

    public TransferException(Reason reason, String message) {
        super(message);
        this.reason = requireNonNull(reason, "reason is null");
    }

    public Reason reason() {
        return reason;
    }
}
