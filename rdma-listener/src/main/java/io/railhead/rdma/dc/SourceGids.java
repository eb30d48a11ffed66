package io.railhead.rdma.dc;

import io.railhead.os.devices.Gid;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaPort;
import io.railhead.rdma.poller.LocalNetwork;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.Supplier;

/**
 * Chooses the entry of the port's GID table from which a peer is reached. IPv4 and IPv6 entries
 * cannot reach each other. The entry on the peer's own network is preferred, then the first.
 */
final class SourceGids {
    private final DcFabricConfig config;
    private final Supplier<List<RdmaDevice>> devices;

    /** @param devices returns the current devices: reads sysfs */
    SourceGids(DcFabricConfig config, Supplier<List<RdmaDevice>> devices) {
        this.config = config;
        this.devices = devices;
    }

    /** Returns the index of the entry; throws if there is none. */
    int require(InetAddress peer) throws IOException {
        List<Gid> fitting = accepted(
                (port, gid) -> port.isInfiniband() || isSameFamily(gid.address(), peer));
        return fitting.stream()
                .filter(gid -> LocalNetwork.holds(gid.address(), peer))
                .findFirst()
                .or(() -> fitting.stream().findFirst())
                .map(Gid::index)
                .orElseThrow(() -> missing(" that reaches " + peer.getHostAddress()));
    }

    /** Returns any GID that packets may leave from, whatever the peer. */
    Gid requireAny() throws IOException {
        return accepted((_, _) -> true).stream().findFirst().orElseThrow(() -> missing(""));
    }

    private List<Gid> accepted(BiPredicate<RdmaPort, Gid> fitting) {
        return devices.get()
                .stream()
                .filter(device -> device.name().equals(config.device()))
                .flatMap(device -> device.ports().stream())
                .filter(port -> port.number() == config.port())
                .flatMap(port -> port.gids().stream().filter(gid -> fitting.test(port, gid)))
                .filter(gid -> config.gids().accepts(config.device(), config.port(), gid))
                .toList();
    }

    private static boolean isSameFamily(InetAddress one, InetAddress other) {
        return one.getAddress().length == other.getAddress().length;
    }

    private IOException missing(String what) {
        return new IOException(config.device() + " port " + config.port() + " has no "
                + config.gids().describe() + what);
    }
}
