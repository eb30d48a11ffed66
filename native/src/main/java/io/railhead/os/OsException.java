package io.railhead.os;

/** A system call that failed, with its errno; the message names the call and the reason. */
public final class OsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int errno;

    public OsException(String message, int errno) {
        super(message);
        this.errno = errno;
    }

    /** The C library's words for an errno, with its number. */
    public static String reason(int errno) {
        return Libc.message(errno);
    }

    /** The errno, or 0 where the refusal is ours. */
    public int errno() {
        return errno;
    }
}
