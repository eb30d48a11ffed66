package io.railhead.cache.writeback;

import org.jspecify.annotations.Nullable;

/**
 * The log takes nothing more: it is full, closed, or its disk has failed. After a failure nobody
 * knows what a write before has become.
 */
public final class LogUnusableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LogUnusableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
