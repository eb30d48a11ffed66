package io.railhead.protocol.token;

/** The operation of a request that may carry a token. */
public enum TokenOperation {
    /** GetObject: bytes are written into the client's memory. */
    GET,
    /** PutObject: bytes are read from the client's memory. */
    PUT,
    /** UploadPart: like {@link #PUT}. */
    PART,
    /** Every other operation, HeadObject too: plain HTTP, whatever a token header contains. */
    OTHER
}
