package io.railhead.client;

import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestOperation;
import org.jspecify.annotations.Nullable;

/**
 * A request that has no session yet.
 *
 * @param request its id and its buffer's key are ignored
 * @param window the memory for its bytes; null for HEAD
 */
record UnboundRequest(Request request, @Nullable Window window) {

    /** Returns whether the request may be performed twice. */
    boolean isRepeatable() {
        return request.operation() != RequestOperation.PUT;
    }

    Request with(int bufferKey) {
        return new Request(0, request.operation(), request.range(), bufferKey,
                window == null ? 0 : window.offset(), request.window(), request.partNumber(),
                request.bucket(), request.key(), request.versionId(), request.ifMatch(),
                request.uploadId(), request.headers(), request.keys(), request.windows());
    }
}
