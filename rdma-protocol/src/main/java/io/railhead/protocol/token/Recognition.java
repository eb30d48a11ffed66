package io.railhead.protocol.token;

import java.util.List;

/** The RDMA fields of a request's headers. */
public sealed interface Recognition {

    /** No token: an ordinary request. */
    record None() implements Recognition {}

    /**
     * A token of a served dialect.
     *
     * @param headers that say it, lower case: all must be signed; the token's own is the first
     */
    record Accepted(Dialect dialect, List<String> headers, Token token) implements Recognition {
        public Accepted {
            headers = List.copyOf(headers);
        }
    }

    /**
     * A token of a session whose queue pair was paired before.
     *
     * @param headers as those of {@link Accepted}
     */
    record Paired(Dialect dialect, List<String> headers, RcToken token) implements Recognition {
        public Paired {
            headers = List.copyOf(headers);
        }
    }

    /**
     * A token that is known and not served: decline in its dialect's own form. {@code reason} is a
     * short word for metrics and {@code x-railhead-rdma-declined}.
     */
    record Declined(Dialect dialect, String reason) implements Recognition {}

    /** A token header whose value is not a token: 400 InvalidRDMAToken. */
    record Malformed(Dialect dialect, String message) implements Recognition {}
}
