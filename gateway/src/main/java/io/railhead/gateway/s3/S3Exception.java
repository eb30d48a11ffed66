package io.railhead.gateway.s3;

import static java.util.Objects.requireNonNull;

/**
 * A refusal on its way to the client. It has no stack trace: refusals are answers, not failures,
 * and anybody can cause them in any number.
 */
public final class S3Exception extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final S3Error error;

    public S3Exception(S3Error error) {
        this(error, error.message());
    }

    /**
     * @param detail
     *            the message the client sees: it must hold no secret
     */
    public S3Exception(S3Error error, String detail) {
        super(detail, null, false, false);
        this.error = requireNonNull(error, "error is null");
    }

    public S3Error error() {
        return error;
    }

    public String detail() {
        return requireNonNull(getMessage());
    }
}
