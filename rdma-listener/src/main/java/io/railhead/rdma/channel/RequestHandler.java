package io.railhead.rdma.channel;

import io.railhead.protocol.channel.RequestView;

/**
 * The gateway's handler of peers' requests. Called on the channel's own thread, which serves other
 * channels too: it must not block.
 */
public interface RequestHandler {

    /** Declines every request, so that the peer uses HTTP. */
    RequestHandler NONE = new Unsupported();

    /**
     * Handles one request. Exactly one answer must go to {@code channel}, from any thread, at once
     * or later. The view is valid until this call returns. An exception ends the channel.
     */
    void handle(RequestView request, RequestChannel channel);

    /** Cancels a request: answer it soon, once nothing touches its buffer. */
    void cancel(int requestId, RequestChannel channel);

    /** Ends the channel: no answer can be sent, and its transfers fail with PEER_GONE. */
    void ended(RequestChannel channel);
}
