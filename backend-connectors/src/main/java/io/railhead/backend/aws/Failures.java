package io.railhead.backend.aws;

import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.timeout.TimeoutException;
import io.railhead.backend.BackendException;

/** What the HTTP client throws, as {@link BackendException}. */
final class Failures {
    private Failures() {}

    static BackendException translate(Throwable thrown) {
        Throwable cause = thrown;
        boolean timeout = false;
        for (Throwable t = thrown; t != null; t = t.getCause()) {
            if (t instanceof BackendException own) {
                return own;
            }
            timeout |= t instanceof ConnectTimeoutException || t instanceof TimeoutException
                    || t instanceof java.util.concurrent.TimeoutException;
            cause = t;
        }
        String why = cause.getMessage() == null
                ? cause.getClass().getSimpleName()
                : cause.getMessage();
        return new BackendException("no answer: " + why, timeout, thrown);
    }

    static BackendException late(String what) {
        return new BackendException(what, true, null);
    }
}
