package io.railhead.protocol.token;

import java.util.Map;

/** The response to a token that is not served, in the dialect's own form. */
public sealed interface Decline {
    /** The header of every response to a declined token, with the reason in a word. */
    String REASON = "x-railhead-rdma-declined";
    int NOT_IMPLEMENTED = 501;
    /** An S3 error without further headers. */
    Answer ERROR = new Answer(NOT_IMPLEMENTED, Map.of());

    /**
     * The ordinary response with the object in its body, and no {@code x-amz-rdma-reply}. Clients
     * that check only that header's presence would take the empty buffer for the object.
     */
    record ServeInline() implements Decline {}

    /**
     * No object: an S3 error document, never an ETag.
     *
     * @param headers besides those of every error
     */
    record Answer(int status, Map<String, String> headers) implements Decline {

        public Answer {
            headers = Map.copyOf(headers);
        }
    }
}
