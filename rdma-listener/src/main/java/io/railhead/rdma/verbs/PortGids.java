package io.railhead.rdma.verbs;

import io.railhead.os.devices.Gid;
import io.railhead.os.devices.GidChoice;
import io.railhead.os.devices.GidRequest;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.rdma.poller.LocalNetwork;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the port, and the entry of its GID table, by which a peer is reached. IPv4 and IPv6
 * entries cannot be paired. The port on the peer's own network is preferred, then the one with the
 * address that the peer used, then the first.
 */
final class PortGids {
    private final GidRequest wanted;
    private final Supplier<List<RdmaDevice>> devices;

    /** @param devices returns the current devices: reads sysfs */
    PortGids(GidRequest wanted, Supplier<List<RdmaDevice>> devices) {
        this.wanted = wanted;
        this.devices = devices;
    }

    /** A port and its GID. */
    record Found(Port port, Gid gid) {}

    /** Searches the usable ports; empty if none reaches the peer. */
    Optional<Found> find(List<Port> ports, InetAddress peer, @Nullable InetAddress arrivedAt) {
        Found best = null;
        int most = -1;
        List<RdmaDevice> now = devices.get();
        for (Port port : ports) {
            InetAddress own = port.address().getAddress();
            Optional<Gid> gid = sameFamily(own, peer) && port.health().usable()
                    ? gid(now, port, own)
                    : Optional.empty();
            int points = LocalNetwork.holds(own, peer) ? 2 : own.equals(arrivedAt) ? 1 : 0;
            if (gid.isPresent() && points > most) {
                best = new Found(port, gid.get());
                most = points;
            }
        }
        return Optional.ofNullable(best);
    }

    private static boolean sameFamily(InetAddress own, InetAddress peer) {
        return own.getAddress().length == peer.getAddress().length;
    }

    private Optional<Gid> gid(List<RdmaDevice> now, Port port, InetAddress own) {
        List<RdmaDevice> device = now.stream()
                .filter(one -> one.name().equals(port.adapter().device()))
                .map(one -> new RdmaDevice(one.name(), one.nodeType(), one.numaNode(),
                        one.ports().stream().filter(p -> p.number() == port.number()).toList()))
                .toList();
        return GidChoice.of(device, wanted.at(own)) instanceof GidChoice.Chosen chosen
                ? Optional.of(chosen.gid())
                : Optional.empty();
    }
}
