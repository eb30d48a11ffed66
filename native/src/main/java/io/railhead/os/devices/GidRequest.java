package io.railhead.os.devices;

import java.net.InetAddress;
import java.util.Optional;

/**
 * A request for a GID by type and optionally by address, or for a pinned entry.
 *
 * @param address empty for any
 * @param pin the one entry to use, whatever its type and address
 */
public record GidRequest(GidType type, Optional<InetAddress> address, Optional<Pin> pin) {

    /** An entry of a GID table by its position. */
    public record Pin(String device, int port, int index) {}

    public static GidRequest of(GidType type) {
        return new GidRequest(type, Optional.empty(), Optional.empty());
    }

    public GidRequest at(InetAddress wanted) {
        return new GidRequest(type, Optional.of(wanted), pin);
    }

    public GidRequest pinned(Pin wanted) {
        return new GidRequest(type, address, Optional.of(wanted));
    }

    /** Returns whether this entry of a port's table fits the request. */
    public boolean accepts(String device, int port, Gid gid) {
        return pin.map(new Pin(device, port, gid.index())::equals).orElseGet(() -> accepts(gid));
    }

    private boolean accepts(Gid gid) {
        return gid.type() == type && address.map(gid.address()::equals).orElse(true)
                && (type == GidType.INFINIBAND || !gid.address().isLinkLocalAddress());
    }

    /** Describes the request, as in "no GID of type rocev2". */
    public String describe() {
        return pin.map(
                place -> "GID " + place.index() + " on " + place.device() + " port " + place.port())
                .orElseGet(() -> "GID of type " + type.configured() + address
                        .map(wanted -> " with address " + wanted.getHostAddress())
                        .orElse(""));
    }
}
