package io.railhead.rdma.pairing;

import static java.util.Objects.requireNonNull;

/** The reason why no queue pair was made. */
public final class PairingException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Each is answered and counted by itself. */
    public enum Reason {
        /** The principal has too many sessions, or is suspended. */
        TOO_MANY_SESSIONS,
        /** No adapter has a GID by which the peer's can be reached. */
        NO_ROUTE,
        /** The adapters hold no more queue pairs, or the memory to stage in is all in use. */
        NO_ROOM,
        /** So much is never staged here. */
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
