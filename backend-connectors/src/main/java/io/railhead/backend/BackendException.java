package io.railhead.backend;

import org.jspecify.annotations.Nullable;

/** The store did not answer, or not to the end. */
public final class BackendException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean timeout;

    public BackendException(String message, boolean timeout, @Nullable Throwable cause) {
        super(message, cause);
        this.timeout = timeout;
    }

    public boolean isTimeout() {
        return timeout;
    }
}
