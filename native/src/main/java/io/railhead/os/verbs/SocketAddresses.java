package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** Converts socket addresses to and from struct sockaddr_in and sockaddr_in6. */
final class SocketAddresses {
    private static final ValueLayout.OfShort PORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

    private SocketAddresses() {}

    static MemorySegment encode(@Nullable SocketAddress address, Arena arena) {
        if (address == null) {
            return MemorySegment.NULL;
        }
        if (!(address instanceof InetSocketAddress inet) || inet.isUnresolved()) {
            throw new IllegalArgumentException("not a resolved internet address: " + address);
        }
        MemorySegment structure = arena.allocate(Layout.SockAddr.SIZE, Integer.BYTES);
        byte[] bytes = inet.getAddress().getAddress();
        boolean isV6 = inet.getAddress() instanceof Inet6Address;
        structure.set(JAVA_SHORT, Layout.SockAddr.FAMILY,
                isV6 ? Layout.SockAddr.AF_INET6 : Layout.SockAddr.AF_INET);
        structure.set(PORT, Layout.SockAddr.PORT, (short) inet.getPort());
        MemorySegment.copy(bytes, 0, structure, JAVA_BYTE,
                isV6 ? Layout.SockAddr.IPV6 : Layout.SockAddr.IPV4, bytes.length);
        if (inet.getAddress() instanceof Inet6Address v6) {
            structure.set(JAVA_INT, Layout.SockAddr.IPV6_SCOPE, v6.getScopeId());
        }
        return structure;
    }

    /** Returns null if the structure holds no internet address, as before a bind. */
    static @Nullable InetSocketAddress decode(MemorySegment structure) {
        short family = structure.get(JAVA_SHORT, Layout.SockAddr.FAMILY);
        int port = Short.toUnsignedInt(structure.get(PORT, Layout.SockAddr.PORT));
        return switch (family) {
            case Layout.SockAddr.AF_INET ->
                new InetSocketAddress(address(structure, Layout.SockAddr.IPV4, 4), port);
            case Layout.SockAddr.AF_INET6 ->
                new InetSocketAddress(address(structure, Layout.SockAddr.IPV6, 16), port);
            default -> null;
        };
    }

    private static InetAddress address(MemorySegment structure, long offset, int bytes) {
        try {
            return InetAddress.getByAddress(
                    structure.asSlice(offset, bytes).toArray(JAVA_BYTE));
        } catch (UnknownHostException e) {
            throw new AssertionError("an address of " + bytes + " bytes was refused", e);
        }
    }
}
