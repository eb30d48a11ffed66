package io.railhead.client;

import java.io.IOException;

/** A wrong response: a retry would only hide the fault. */
final class PermanentException extends IOException {
    private static final long serialVersionUID = 1L;

    PermanentException(String message) {
        super(message);
    }
}
