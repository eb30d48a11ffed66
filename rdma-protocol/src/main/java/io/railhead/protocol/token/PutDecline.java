package io.railhead.protocol.token;

/** The response to a declined upload of the {@code x-amz-rdma-token} family. */
public enum PutDecline {
    /** HTTP 501: fails closed, even for clients that look at nothing but the status. */
    ERROR,
    /**
     * HTTP 200 without ETag, as the draft specification says: lets those that know it fall back by
     * themselves, and loses the data of those that look only at the status.
     */
    DRAFT
}
