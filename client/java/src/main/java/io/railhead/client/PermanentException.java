package io.railhead.client;

import java.io.IOException;

/** An answer that is wrong, not late: asking again would only hide it. */
final class PermanentException extends IOException {
    private static final long serialVersionUID = 1L;

    PermanentException(String message) {
        super(message);
    }
}
