package io.railhead.backend.aws;

import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.timeout.TimeoutException;
import io.railhead.backend.BackendException;
import io.railhead.backend.BackendException.Reason;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.PortUnreachableException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;

/** Translates exceptions of the HTTP client into {@link BackendException}. */
final class HttpFailures {
    private HttpFailures() {}

    static BackendException translate(Throwable thrown) {
        Throwable cause = thrown;
        Reason reason = Reason.BROKEN;
        for (Throwable t = thrown; t != null; t = t.getCause()) {
            if (t instanceof BackendException own) {
                return own;
            }
            reason = more(reason, t);
            cause = t;
        }
        String why = cause.getMessage() == null
                ? cause.getClass().getSimpleName()
                : cause.getMessage();
        return new BackendException(reason,
                (reason == Reason.INTERNAL ? "failed here: " : "no answer: ") + why, thrown);
    }

    /**
     * Returns the more specific of two reasons: this process's own Error comes first, then a
     * missing connection.
     */
    private static Reason more(Reason known, Throwable cause) {
        if (known == Reason.INTERNAL || cause instanceof Error) {
            return Reason.INTERNAL;
        }
        if (known == Reason.UNREACHABLE || isUnreachable(cause)) {
            return Reason.UNREACHABLE;
        }
        boolean late = cause instanceof TimeoutException
                || cause instanceof java.util.concurrent.TimeoutException;
        return late ? Reason.LATE : known;
    }

    private static boolean isUnreachable(Throwable cause) {
        return cause instanceof ConnectException || cause instanceof ConnectTimeoutException
                || cause instanceof NoRouteToHostException
                || cause instanceof PortUnreachableException
                || cause instanceof UnknownHostException
                || cause instanceof UnresolvedAddressException
                || cause instanceof SSLHandshakeException
                || cause instanceof SSLPeerUnverifiedException
                || cause instanceof NotSslRecordException;
    }

    static BackendException late(String what) {
        return new BackendException(Reason.LATE, what, null);
    }
}
