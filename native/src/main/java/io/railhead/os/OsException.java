package io.railhead.os;

/** A system call that failed, with its errno; the message names the call and the reason. */
public final class OsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int errno;

    public OsException(String message, int errno) {
        super(message);
        this.errno = errno;
    }

    /** Returns the C library's text for an errno, with its number. */
    public static String reason(int errno) {
        return Libc.message(errno);
    }

    /** Returns the errno; 0 if this package refused the call. */
    public int errno() {
        return errno;
    }
}
