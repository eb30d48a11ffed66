package io.railhead.protocol.token;

/** The response to a declined upload of the {@code x-amz-rdma-token} family. */
public enum PutDecline {
    /** HTTP 501: fails closed, even for clients that check only the status. */
    ERROR,
    /**
     * HTTP 200 without ETag, as the draft specification demands. Clients that know it fall back by
     * themselves; clients that check only the status lose their data.
     */
    DRAFT
}
