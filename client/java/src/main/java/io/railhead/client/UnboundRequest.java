package io.railhead.client;

import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestOperation;
import org.jspecify.annotations.Nullable;

/**
 * A request before it is known in which session it will go.
 *
 * @param request its id and its buffer's key are not looked at
 * @param window where its bytes are; null for HEAD
 */
record UnboundRequest(Request request, @Nullable Window window) {

    /** Whether doing it twice is as good as once. */
    boolean isRepeatable() {
        return request.operation() != RequestOperation.PUT;
    }

    Request with(int bufferKey) {
        return new Request(0, request.operation(), request.range(), bufferKey,
                window == null ? 0 : window.offset(), request.window(), request.partNumber(),
                request.bucket(), request.key(), request.versionId(), request.ifMatch(),
                request.uploadId(), request.headers());
    }
}
