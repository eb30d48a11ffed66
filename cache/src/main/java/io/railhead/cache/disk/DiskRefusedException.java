package io.railhead.cache.disk;

/** A file or device that the tier will not use until its operator has done something. */
public final class DiskRefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    DiskRefusedException(String message) {
        super(message);
    }

    DiskRefusedException(String message, Throwable cause) {
        super(message, cause);
    }
}
