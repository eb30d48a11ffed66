package io.railhead.gateway.authorization;

import io.railhead.gateway.identity.Principal;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a caller may have bytes written to, or read from, the port of a GID. A token
 * without a session names some machine's memory, and does not prove whose.
 */
public final class PeerAddresses {

    private PeerAddresses() {}

    /**
     * Returns whether the GID may be used. It must be the address that the request came from, as
     * with RoCE v2 over one interface, or stand in the principal's list.
     *
     * @param gid 16 bytes in network order; an IPv4 address is mapped
     * @param peer of the TCP connection; null if unknown
     */
    public static boolean allow(Principal principal, byte[] gid, @Nullable InetAddress peer) {
        InetAddress named = address(gid);
        return named.equals(peer) || principal.gids().contains(named);
    }

    /** Returns the address of a TCP connection; null if it is no IP address. */
    public static @Nullable InetAddress of(@Nullable SocketAddress socket) {
        String host = socket == null ? null : socket.hostAddress();
        if (host == null) {
            return null;
        }
        try {
            int scope = host.indexOf('%');
            return InetAddress.ofLiteral(scope < 0 ? host : host.substring(0, scope));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static InetAddress address(byte[] gid) {
        try {
            return InetAddress.getByAddress(gid);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("a GID has 16 bytes: " + gid.length, e);
        }
    }
}
