package io.railhead.cache.writeback;

/** Bytes of the log are not those that were written. */
public final class LogDamagedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LogDamagedException(String message) {
        super(message);
    }
}
