package io.railhead.os.verbs;

import java.io.IOException;

/** This machine cannot do verbs, or not this way; the message says what is missing. */
public final class VerbsUnavailableException extends IOException {
    private static final long serialVersionUID = 1L;

    VerbsUnavailableException(String reason) {
        super("not available: " + reason);
    }
}
