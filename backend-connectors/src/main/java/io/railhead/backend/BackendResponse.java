package io.railhead.backend;

import java.nio.ByteBuffer;
import org.reactivestreams.Publisher;

/**
 * The store's response: headers now, the body on demand.
 *
 * @param body must be subscribed to exactly once (and may be cancelled at once), or the connection
 *            is held. The subscriber may keep the buffers. Fails with {@link BackendException} if
 *            the body is cut off or stalls.
 */
public record BackendResponse(int status, Headers headers, Publisher<ByteBuffer> body) {

    public boolean isSuccess() {
        return status >= 200 && status < 300;
    }
}
