package io.railhead.backend;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/** The store did not answer, or not to the end. */
public final class BackendException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Reason reason;

    /** Why there is no answer, or not all of one. */
    public enum Reason {
        /** No connection could be had: refused, no route, no name, no TLS. */
        UNREACHABLE,
        /** All connections that this gateway may have to the store were taken. */
        BUSY,
        /** It did not answer in time, or stalled. */
        LATE,
        /** The connection ended before the answer did. */
        BROKEN,
        /** It sent something other than an HTTP answer, or one that contradicts itself. */
        MALFORMED,
        /** Its answer passes a limit of this gateway: it will do so again. */
        OVERSIZED,
        /** The request never left: it was given up, or cannot be written. */
        UNSENT
    }

    public BackendException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = requireNonNull(reason, "reason is null");
    }

    public Reason reason() {
        return reason;
    }
}
