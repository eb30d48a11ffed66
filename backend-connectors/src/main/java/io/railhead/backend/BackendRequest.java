package io.railhead.backend;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One request for the store; the backend adds signing, Host and framing headers.
 *
 * @param headers all other headers, without hop-by-hop and signing ones; a
 *            {@link Caller.ClientSigned} request keeps the signing headers
 * @param timeout until the response's headers, and between two pieces of its body if longer than
 *            the backend's own; null for the backend's own
 */
public record BackendRequest(String method, Target target, Headers headers, Payload payload,
        Caller caller,
        @Nullable Duration timeout) {

    public BackendRequest withCaller(Caller other) {
        return new BackendRequest(method, target, headers, payload, other, timeout);
    }

    /** Returns whether sending it twice has the effect of once: GET and HEAD. */
    public boolean isIdempotent() {
        return payload instanceof Payload.Empty && (method.equals("GET") || method.equals("HEAD"));
    }

    /** Returns whether bytes must follow its head. */
    public boolean hasBody() {
        return switch (payload) {
            case Payload.Empty() -> false;
            case Payload.Bytes(ByteBuffer content) -> content.hasRemaining();
            case Payload.Stream stream -> stream.lengthBytes() != 0;
        };
    }
}
