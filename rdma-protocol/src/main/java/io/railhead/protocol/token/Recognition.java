package io.railhead.protocol.token;

import java.util.List;

/** The RDMA fields of a request's headers. */
public sealed interface Recognition {

    /** The request has no token. */
    record None() implements Recognition {}

    /**
     * A token of a served dialect.
     *
     * @param headers the headers with the token, in lower case, the token's own first; all must be
     *            signed
     */
    record Accepted(Dialect dialect, List<String> headers, Token token) implements Recognition {
        public Accepted {
            headers = List.copyOf(headers);
        }
    }

    /**
     * A token of a session whose queue pair was paired before.
     *
     * @param headers as in {@link Accepted}
     */
    record Paired(Dialect dialect, List<String> headers, RcToken token) implements Recognition {
        public Paired {
            headers = List.copyOf(headers);
        }
    }

    /**
     * A known token that is not served: decline it in its dialect's own form. {@code reason} is a
     * short word for metrics and {@code x-railhead-rdma-declined}.
     */
    record Declined(Dialect dialect, String reason) implements Recognition {}

    /** A token header whose value is not a token: 400 InvalidRDMAToken. */
    record Malformed(Dialect dialect, String message) implements Recognition {}
}
