package io.railhead.rdma.dialect;

import java.util.Map;

/** The answer to a token that is not served: the dialect's own way of saying no. */
public sealed interface Decline {
    /** To a header whose value is not a token. */
    Decline MALFORMED = new Answer(400, Map.of(), "InvalidRDMAToken");

    /**
     * The ordinary answer with the object in its body, and no {@code x-amz-rdma-reply}: clients
     * that check that header only for presence would take the empty buffer for the object.
     */
    record ServeInline() implements Decline {}

    /**
     * No object: an S3 error document, never an ETag.
     *
     * @param headers beside those of any error
     * @param code S3 error code of the document
     */
    record Answer(int status, Map<String, String> headers, String code) implements Decline {

        public Answer {
            headers = Map.copyOf(headers);
        }
    }
}
