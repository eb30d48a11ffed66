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
 * From which entry of the port's GID table a peer is reached: one of IPv4 and one of IPv6 cannot
 * speak to each other. Of several, the one on the peer's own network is taken, then the first.
 */
final class SourceGids {
    private final DcFabricConfig config;
    private final Supplier<List<RdmaDevice>> devices;

    /** @param devices as they are now: reads sysfs */
    SourceGids(DcFabricConfig config, Supplier<List<RdmaDevice>> devices) {
        this.config = config;
        this.devices = devices;
    }

    /** Its index; throws where there is none. */
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

    /** One that packets may leave from, whoever they are for. */
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
