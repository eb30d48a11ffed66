package io.railhead.backend;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One request as it should reach the store; signing, Host and framing headers are the backend's to
 * add.
 *
 * @param headers everything else, hop-by-hop and signing headers removed; but of a
 *            {@link Caller.ClientSigned} the signing headers stay
 * @param timeout to the answer's headers, and between two pieces of its body if that is longer than
 *            the backend's own; null for the backend's own
 */
public record BackendRequest(String method, Target target, Headers headers, Payload payload,
        Caller caller,
        @Nullable Duration timeout) {

    public BackendRequest withCaller(Caller other) {
        return new BackendRequest(method, target, headers, payload, other, timeout);
    }

    /** Sending it twice changes nothing more than once: GET and HEAD. */
    public boolean isIdempotent() {
        return payload instanceof Payload.Empty && (method.equals("GET") || method.equals("HEAD"));
    }

    /** Whether it is incomplete without bytes that follow its head. */
    public boolean hasBody() {
        return switch (payload) {
            case Payload.Empty() -> false;
            case Payload.Bytes(ByteBuffer content) -> content.hasRemaining();
            case Payload.Stream stream -> stream.lengthBytes() != 0;
        };
    }
}
