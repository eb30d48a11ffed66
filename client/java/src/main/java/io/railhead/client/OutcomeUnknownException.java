package io.railhead.client;

import java.io.IOException;

/** A write without a response, which is not repeated: the object may be stored, or may yet be. */
public final class OutcomeUnknownException extends IOException {
    private static final long serialVersionUID = 1L;

    OutcomeUnknownException(ObjectName name, IOException cause) {
        super("the connection ended, or the store failed, before " + name
                + " was acknowledged: whether it was stored is unknown: " + cause.getMessage(),
                cause);
    }
}
