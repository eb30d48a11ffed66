package io.railhead.gateway.request;

import io.netty.channel.ChannelId;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * The TCP connection that a request came by.
 *
 * @param id of this connection alone
 * @param address of the peer; null if unknown
 * @param secure whether it is a TLS connection
 */
public record PeerConnection(ChannelId id, @Nullable InetAddress address, boolean secure) {

    /** Returns whether both connections come from one peer address. */
    public boolean isFromPeerOf(PeerConnection other) {
        return id.equals(other.id) || (address != null && address.equals(other.address));
    }
}
