package io.railhead.os.verbs;

import io.railhead.os.OsException;
import java.io.IOException;

/** A verbs call that failed, with its errno; the message names the call and the reason. */
public final class VerbsException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int errno;

    VerbsException(String call, int errno) {
        super(call + ": " + OsException.reason(errno));
        this.errno = errno;
    }

    public int errno() {
        return errno;
    }
}
