package io.railhead.cache;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/** A failed fill, with the reason that tells its waiters how to go on. */
public final class FillException extends Exception {
    private static final long serialVersionUID = 1L;

    /** The reason, and the reaction of a waiter. */
    public enum Reason {
        /**
         * The backend refused this principal: only the fill's owner fails, other waiters start
         * anew.
         */
        REFUSED,
        /** The version is gone (412, another ETag): discover again. */
        VERSION_CHANGED,
        /** The object is gone (404). */
        NOT_FOUND,
        /** The backend did not answer, did not finish, or sent other bytes than requested. */
        BACKEND_FAILED,
        /** The backend answered with an error, which is the best response for the client. */
        BACKEND_ERROR,
        /**
         * The bytes do not match the store's checksum; earlier pages of the version may be wrong
         * too.
         */
        CORRUPT,
        /** No page was free for the bytes: serve uncached. */
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
