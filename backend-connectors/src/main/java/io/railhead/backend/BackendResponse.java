package io.railhead.backend;

import java.nio.ByteBuffer;
import org.reactivestreams.Publisher;

/**
 * The store's answer: headers now, body as it is asked for.
 *
 * @param body to be subscribed to exactly once (or cancelled at once), or the connection is held;
 *            buffers are the subscriber's to keep. It fails with {@link BackendException} if the
 *            body is cut off or stalls.
 */
public record BackendResponse(int status, Headers headers, Publisher<ByteBuffer> body) {

    public boolean isSuccess() {
        return status >= 200 && status < 300;
    }
}
