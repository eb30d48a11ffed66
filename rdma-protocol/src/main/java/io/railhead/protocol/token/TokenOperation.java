package io.railhead.protocol.token;

/** The operation that a request with a token asks of RDMA. */
public enum TokenOperation {
    /** GetObject: bytes are written into the client's memory. */
    GET,
    /** PutObject: bytes are read from the client's memory. */
    PUT,
    /** UploadPart: like {@link #PUT}. */
    PART,
    /** Everything else, HeadObject too: plain HTTP whatever a token header says. */
    OTHER
}
