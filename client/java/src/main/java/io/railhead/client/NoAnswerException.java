package io.railhead.client;

import java.io.IOException;

/** The session ended before a request was answered. */
final class NoAnswerException extends IOException {
    private static final long serialVersionUID = 1L;

    /** What is known of the request. */
    enum Outcome {
        /** The gateway never began it. */
        NOT_EXECUTED,
        UNKNOWN
    }

    private final Outcome outcome;

    NoAnswerException(Outcome outcome, String message, Throwable cause) {
        super(message, cause);
        this.outcome = outcome;
    }

    Outcome outcome() {
        return outcome;
    }
}
