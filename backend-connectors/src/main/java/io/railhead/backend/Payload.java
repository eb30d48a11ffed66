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
     * A streamed body, sent once, with back-pressure. It is signed as UNSIGNED-PAYLOAD, or under
     * the SHA-256 that the client declared, which the gateway verifies as it streams. If the
     * publisher fails, the request is cut, so that the store commits nothing.
     *
     * @param lengthBytes the decoded length; -1 if unknown: then sent under
     *            {@code Transfer-Encoding: chunked}, which some stores refuse
     * @param contentSha256 hex, or "UNSIGNED-PAYLOAD"
     * @param trailers checksum trailers, whose values are known only at the body's end; sent as
     *            aws-chunked trailers if the store accepts them; empty without trailers or without
     *            a length
     */
    record Stream(Publisher<ByteBuffer> body, long lengthBytes, String contentSha256,
            Map<String, Supplier<String>> trailers) implements Payload {

        public Stream {
            if (lengthBytes < 0 && !trailers.isEmpty()) {
                throw new IllegalArgumentException(
                        "trailers need a length: " + trailers.keySet());
            }
        }

        /** Returns whether the length is known. */
        public boolean hasLength() {
            return lengthBytes >= 0;
        }
    }
}
