package io.railhead.cache;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/** A fill that could not be finished, and what that means for those who wait for it. */
public final class FillException extends Exception {
    private static final long serialVersionUID = 1L;

    /** What a waiter should do. */
    public enum Reason {
        /** The backend refused this principal: only the fill's owner fails, others start anew. */
        REFUSED,
        /** The version is gone (412, another ETag): discover again. */
        VERSION_CHANGED,
        /** The object is gone (404). */
        NOT_FOUND,
        /** The backend did not answer, or not to the end, or sent what was not asked for. */
        BACKEND_FAILED,
        /**
         * The backend answered with an error of its own: to the client it says more than we can.
         */
        BACKEND_ERROR,
        /** The bytes are not the store's, nor may those be that came before: nothing is good. */
        CORRUPT,
        /** There was no page to put the bytes in: serve uncached. */
        NO_MEMORY
    }

    private final Reason reason;

    public FillException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = requireNonNull(reason, "reason is null");
    }

    public Reason reason() {
        return reason;
    }
}
