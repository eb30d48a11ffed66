package io.railhead.rdma;

import static java.util.Objects.requireNonNull;

/** The reason why a transfer was refused or broke off. */
public final class TransferException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Each has its own S3 error and its own count. */
    public enum Reason {
        /** No such session, or it has ended. */
        UNKNOWN_SESSION,
        /** The session belongs to another principal. */
        FOREIGN_SESSION,
        /** The session has no buffer with this key. */
        UNKNOWN_KEY,
        /** The address, or address plus length, lies outside the buffer. */
        OUT_OF_BOUNDS,
        /** The peer lives, and its memory could not be touched by the key and range it named. */
        REMOTE_ACCESS,
        /** The peer went away. */
        PEER_GONE,
        /** Fenced by the request's own deadline or end. */
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
