package io.railhead.client;

import io.railhead.protocol.channel.Answer;
import java.io.IOException;

/** A store's refusal: HTTP status, S3 error code and message. */
public final class S3Exception extends IOException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String code;
    private final String requestId;

    public S3Exception(int status, String code, String message) {
        this(status, code, message, "");
    }

    /** @param requestId the name in the gateway's or the store's logs; "" if unknown */
    public S3Exception(int status, String code, String message, String requestId) {
        super(code + (message.isEmpty() ? "" : ": " + message)
                + (requestId.isEmpty() ? "" : " (request " + requestId + ")"));
        this.status = status;
        this.code = code;
        this.requestId = requestId;
    }

    /** Returns the exception for a channel's answer that is no success. */
    public static S3Exception of(Answer answer) {
        return new S3Exception(answer.status(), answer.code(), answer.message(),
                answer.headers().getOrDefault(Answer.REQUEST_ID, ""));
    }

    public int status() {
        return status;
    }

    public String code() {
        return code;
    }

    /** Returns the request's name in the gateway's or the store's logs; "" if unknown. */
    public String requestId() {
        return requestId;
    }

    /**
     * Returns whether a refused write may have been performed, or may yet be. A store's own
     * SlowDown excludes that. So do 501 and the gateway's codes for memory that it could not read.
     */
    boolean isDoubtful() {
        return status >= 500 && status != 501 && !code.equals("SlowDown")
                && !code.startsWith("RDMA");
    }

    /** Returns the failure of an object's write that must not be repeated. */
    public IOException asOutcome(ObjectName name) {
        return isDoubtful() ? new OutcomeUnknownException(name, this) : this;
    }

    /** Returns whether the same request may succeed a moment later. */
    boolean isTransient() {
        return status == 500 || status == 502 || status == 503 || status == 504;
    }
}
