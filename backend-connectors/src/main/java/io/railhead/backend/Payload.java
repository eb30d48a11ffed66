package io.railhead.backend;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.Supplier;
import org.reactivestreams.Publisher;

/** A request's body. */
public sealed interface Payload {

    /** No body: such a request can be sent again. */
    record Empty() implements Payload {}

    /**
     * A small body held in memory (XML of control requests, at most 1 MiB), signed by its SHA-256.
     */
    record Bytes(ByteBuffer content) implements Payload {}

    /**
     * A body that flows, once, with back-pressure. Forwarded as UNSIGNED-PAYLOAD, or under the
     * SHA-256 the client declared (which the gateway verifies as it flows). If the publisher fails
     * the request is cut, so that the store commits nothing.
     *
     * @param lengthBytes the decoded length; -1 where nobody said it: sent under
     *            {@code Transfer-Encoding: chunked}, which some stores take and others refuse
     * @param contentSha256 hex, or "UNSIGNED-PAYLOAD"
     * @param trailers checksum trailer names and their values, known only when the body has ended;
     *            sent as aws-chunked trailers where the store takes them, else left out; empty if
     *            none or if the length is unknown
     */
    record Stream(Publisher<ByteBuffer> body, long lengthBytes, String contentSha256,
            Map<String, Supplier<String>> trailers) implements Payload {

        public Stream {
            if (lengthBytes < 0 && !trailers.isEmpty()) {
                throw new IllegalArgumentException(
                        "trailers need a length: " + trailers.keySet());
            }
        }

        /** Whether anybody said how long it is. */
        public boolean hasLength() {
            return lengthBytes >= 0;
        }
    }
}
