package io.railhead.gateway.s3;

import static java.util.Objects.requireNonNull;

import java.util.HashMap;
import java.util.Map;

/**
 * A refusal on its way to the client. It has no stack trace: refusals are responses, and any client
 * can cause them in any number.
 */
public final class S3Refusal extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final S3Error error;
    private final int status;
    private final transient Map<String, String> headers;

    public S3Refusal(S3Error error) {
        this(error, error.message());
    }

    /** @param detail the message that the client sees; must hold no secret */
    public S3Refusal(S3Error error, String detail) {
        this(error, detail, error.status(), Map.of());
    }

    private S3Refusal(S3Error error, String detail, int status, Map<String, String> headers) {
        super(detail, null, false, false);
        this.error = requireNonNull(error, "error is null");
        this.status = status;
        this.headers = headers;
    }

    /** Returns the same refusal with one more header. */
    public S3Refusal withHeader(String name, String value) {
        return withHeaders(Map.of(name, value));
    }

    public S3Refusal withHeaders(Map<String, String> more) {
        Map<String, String> all = new HashMap<>(headers);
        all.putAll(more);
        return new S3Refusal(error, detail(), status, Map.copyOf(all));
    }

    /** Returns the same refusal with another HTTP status than the code's own. */
    public S3Refusal withStatus(int otherStatus) {
        return new S3Refusal(error, detail(), otherStatus, headers);
    }

    public int status() {
        return status;
    }

    /** Returns the headers besides those of every error. */
    public Map<String, String> headers() {
        return headers;
    }

    public S3Error error() {
        return error;
    }

    public String detail() {
        return requireNonNull(getMessage());
    }
}
