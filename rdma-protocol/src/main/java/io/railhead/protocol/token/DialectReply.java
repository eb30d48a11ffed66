package io.railhead.protocol.token;

import java.util.Map;

/**
 * The headers of a successful RDMA transfer, on uploads and downloads alike: some clients require
 * both, and none is disturbed by them.
 *
 * @param httpStatus 200, or 206 for part of an object: the reply repeats it, as the strictest
 *            clients require
 */
public record DialectReply(int httpStatus, long bytesTransferred) {
    /** The header with the HTTP status, or 501. */
    public static final String STATUS = "x-amz-rdma-reply";
    /** The header with the number of moved bytes, decimal. */
    public static final String BYTES = "x-amz-rdma-bytes-transferred";

    public DialectReply {
        if (httpStatus != 200 && httpStatus != 206) {
            throw new IllegalArgumentException("httpStatus must be 200 or 206: " + httpStatus);
        }
        if (bytesTransferred < 0) {
            throw new IllegalArgumentException(
                    "bytesTransferred must be >= 0: " + bytesTransferred);
        }
    }

    public Map<String, String> headers() {
        return Map.of(STATUS, Integer.toString(httpStatus), BYTES,
                Long.toString(bytesTransferred));
    }
}
