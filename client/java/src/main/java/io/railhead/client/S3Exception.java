package io.railhead.client;

import java.io.IOException;

/** The store refused: its HTTP status, its S3 error code and its words. */
public final class S3Exception extends IOException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String code;

    public S3Exception(int status, String code, String message) {
        super(message.isEmpty() ? code : code + ": " + message);
        this.status = status;
        this.code = code;
    }

    public int status() {
        return status;
    }

    public String code() {
        return code;
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
