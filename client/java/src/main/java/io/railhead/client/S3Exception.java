package io.railhead.client;

import io.railhead.protocol.channel.Answer;
import java.io.IOException;

/** The store refused: its HTTP status, its S3 error code and its words. */
public final class S3Exception extends IOException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String code;
    private final String requestId;

    public S3Exception(int status, String code, String message) {
        this(status, code, message, "");
    }

    /** @param requestId as the gateway's or the store's logs name it; "" if it is not known */
    public S3Exception(int status, String code, String message, String requestId) {
        super(code + (message.isEmpty() ? "" : ": " + message)
                + (requestId.isEmpty() ? "" : " (request " + requestId + ")"));
        this.status = status;
        this.code = code;
        this.requestId = requestId;
    }

    /** What a channel's answer says that is no success. */
    static S3Exception of(Answer answer) {
        return new S3Exception(answer.status(), answer.code(), answer.message(),
                answer.headers().getOrDefault(Answer.REQUEST_ID, ""));
    }

    public int status() {
        return status;
    }

    public String code() {
        return code;
    }

    /** What the gateway's, or the store's, logs name the request; "" if it is not known. */
    public String requestId() {
        return requestId;
    }

    /**
     * Of a write: whether it may have been done, or may yet be. A store's own SlowDown says not, as
     * do 501 and the gateway's own codes, of memory that it could not read.
     */
    boolean isDoubtful() {
        return status >= 500 && status != 501 && !code.equals("SlowDown")
                && !code.startsWith("RDMA");
    }

    /** What the write of an object fails with that is not to be repeated. */
    IOException asOutcome(ObjectName name) {
        return isDoubtful() ? new OutcomeUnknownException(name, this) : this;
    }

    /** True where the same request may succeed a moment later. */
    boolean isTransient() {
        return status == 500 || status == 502 || status == 503 || status == 504;
    }
}
