package io.railhead.protocol.token;

import java.util.Map;

/** The answer to a token that is not served: the dialect's own way of saying no. */
public sealed interface Decline {
    /** Header of any answer to a declined token: why, in a word. */
    String REASON = "x-railhead-rdma-declined";
    int NOT_IMPLEMENTED = 501;
    /** An S3 error and nothing else. */
    Answer ERROR = new Answer(NOT_IMPLEMENTED, Map.of());

    /**
     * The ordinary answer with the object in its body, and no {@code x-amz-rdma-reply}: clients
     * that check that header only for presence would take the empty buffer for the object.
     */
    record ServeInline() implements Decline {}

    /**
     * No object: an S3 error document, never an ETag.
     *
     * @param headers beside those of any error
     */
    record Answer(int status, Map<String, String> headers) implements Decline {

        public Answer {
            headers = Map.copyOf(headers);
        }
    }
}
