package io.railhead.rdma.channel;

import io.railhead.protocol.channel.RequestView;

/**
 * The gateway's handler of peers' requests. Called on the channel's own thread, which serves others
 * too: it must not block.
 */
public interface RequestHandler {

    /** Answers every request with "not served here": the peer asks over HTTP. */
    RequestHandler NONE = new Unsupported();

    /**
     * One request, whose exactly one answer goes to {@code channel}, from any thread, at once or
     * later. The view is valid until this returns. What it throws ends the channel.
     */
    void handle(RequestView request, RequestChannel channel);

    /** The peer wants no answer any more: answer soon, once nothing touches its buffer. */
    void cancel(int requestId, RequestChannel channel);

    /** The channel has ended: no answer can be sent, and its transfers fail with PEER_GONE. */
    void ended(RequestChannel channel);
}
