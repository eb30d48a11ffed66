package io.railhead.protocol.message;

/**
 * The limits that WELCOME grants a peer.
 *
 * @param maxBuffers the most buffers registered at a time
 * @param maxRequests the most requests outstanding at a time: the peer's credits
 * @param maxMessageBytes the longest message, header included
 * @param keepAliveMillis the interval of the peer's messages; a silence of three intervals ends the
 *            session
 */
public record SessionLimits(int maxBuffers, int maxRequests, int maxMessageBytes,
        int keepAliveMillis) {

    public SessionLimits(int maxBuffers, int maxRequests, int keepAliveMillis) {
        this(maxBuffers, maxRequests, MessageHeader.MAX_MESSAGE_BYTES, keepAliveMillis);
    }
}
