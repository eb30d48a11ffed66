package io.railhead.rdma.pairing;

import static java.util.Objects.requireNonNull;

/** The reason why no queue pair was created. */
public final class PairingException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The reasons, each answered and counted by itself. */
    public enum Reason {
        /** The principal has too many sessions, or is suspended. */
        TOO_MANY_SESSIONS,
        /** No adapter has a GID by which the peer's can be reached. */
        NO_ROUTE,
        /** The adapters can hold no more queue pairs, or all staging memory is in use. */
        NO_ROOM,
        /** The gateway never stages so many bytes. */
        NO_STAGING,
        /** The adapter refused, or the fabric is closing. */
        UNAVAILABLE
    }

    private final Reason reason;

    public PairingException(Reason reason, String message) {
        super(message);
        this.reason = requireNonNull(reason, "reason is null");
    }

    public Reason reason() {
        return reason;
    }
}
