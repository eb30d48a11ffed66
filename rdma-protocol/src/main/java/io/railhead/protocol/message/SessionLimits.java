package io.railhead.protocol.message;

/**
 * The limits that WELCOME grants a peer.
 *
 * @param maxBuffers registered at a time
 * @param maxRequests outstanding at a time: the peer's credits
 * @param maxMessageBytes of each message, header included
 * @param keepAliveMillis within which the peer says something; silence of three times that ends the
 *            session
 */
public record SessionLimits(int maxBuffers, int maxRequests, int maxMessageBytes,
        int keepAliveMillis) {

    public SessionLimits(int maxBuffers, int maxRequests, int keepAliveMillis) {
        this(maxBuffers, maxRequests, MessageHeader.MAX_MESSAGE_BYTES, keepAliveMillis);
    }
}
