package io.railhead.os.verbs;

import java.io.IOException;

/**
 * Verbs are not available on this machine, or not in this way; the message names what is missing.
 */
public final class VerbsUnavailableException extends IOException {
    private static final long serialVersionUID = 1L;

    VerbsUnavailableException(String reason) {
        super("not available: " + reason);
    }
}
