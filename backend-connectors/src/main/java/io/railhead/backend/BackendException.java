package io.railhead.backend;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/** The store did not respond, or not completely. */
public final class BackendException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Reason reason;

    /** The reason why there is no complete response. */
    public enum Reason {
        /** No connection was possible: refused, no route, no name, no TLS. */
        UNREACHABLE,
        /** All connections that this gateway may have to the store were in use. */
        BUSY,
        /** The rate that the store allows was used up for too long. */
        RATE_LIMITED,
        /** The store did not respond in time, or stalled. */
        LATE,
        /** The connection ended before the response did. */
        BROKEN,
        /** The store sent something other than an HTTP response, or a contradictory one. */
        MALFORMED,
        /** The response exceeds a limit of this gateway, as it will again. */
        OVERSIZED,
        /** The request was not sent: it was cancelled, or cannot be encoded. */
        UNSENT,
        /**
         * An Error of this process, such as a lack of memory, which says nothing about the store.
         * The store may have taken the request.
         */
        INTERNAL
    }

    public BackendException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = requireNonNull(reason, "reason is null");
    }

    public Reason reason() {
        return reason;
    }
}
