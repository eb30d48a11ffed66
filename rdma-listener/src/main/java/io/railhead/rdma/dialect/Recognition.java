package io.railhead.rdma.dialect;

/** What a request's headers say about RDMA. */
public sealed interface Recognition {

    /** No token: an ordinary request. */
    record None() implements Recognition {}

    /** A token of a served dialect. {@code header} must be among the signed headers. */
    record Accepted(Dialect dialect, String header, Token token) implements Recognition {}

    /**
     * A token of a dialect not served here: decline in its own form. {@code reason} is a short word
     * for metrics and {@code x-railhead-rdma-declined}.
     */
    record Declined(Dialect dialect, String header, String reason) implements Recognition {}

    /** A token header whose value is not a token: 400 InvalidRDMAToken. */
    record Malformed(Dialect dialect, String header, String message) implements Recognition {}
}
