package io.railhead.cli.doctor;

import static io.railhead.cli.doctor.Finding.lacking;
import static io.railhead.cli.doctor.Finding.ok;
import static io.railhead.cli.doctor.Finding.warn;

import io.railhead.gateway.config.Adapters;
import io.railhead.gateway.config.MachineNeeds;
import io.railhead.gateway.config.VerbsConfig;
import io.railhead.os.devices.Gid;
import io.railhead.os.devices.GidChoice;
import io.railhead.os.devices.GidType;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaPort;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Checks the adapters with their ports and addresses, and names those that a gateway would use. */
final class DeviceCheck implements Check {
    private static final int LARGEST_MTU = 4096;
    /** The smallest interface MTU that carries the largest packets of RDMA. */
    private static final int JUMBO_MTU = 4200;

    @Override
    public List<Finding> run(Host host, MachineNeeds needs) {
        List<RdmaDevice> devices = host.devices();
        boolean asked = needs.rdma().usesAdapters();
        if (devices.isEmpty()) {
            return List.of(none(host, asked));
        }
        List<Finding> findings = new ArrayList<>();
        if (!asked) {
            findings.add(warn("verbs", devices.size() + " device(s), switched off",
                    "clients are served over HTTP and loopback only",
                    "set rdma.verbs.enabled: true"));
        }
        devices.forEach(device -> describe(device, asked, findings));
        for (GidChoice choice : Adapters.choose(needs.rdma(), devices)) {
            switch (choice) {
                case GidChoice.Chosen chosen -> {
                    findings.add(address(chosen));
                    mtu(chosen, needs.rdma().verbs().connection(), asked).ifPresent(findings::add);
                }
                case GidChoice.None(String reason) -> findings.add(lacking(asked, "address",
                        "none to use: " + reason, "a peer reaches an adapter by its GID",
                        mendAddress(needs.rdma().gidType())));
            }
        }
        return findings;
    }

    private static Finding none(Host host, boolean asked) {
        String why = "without one, bytes come over HTTP or loopback";
        if (!asked) {
            return ok("devices", "no RDMA device, and none is asked for", why);
        }
        return Finding.fail("devices", "the kernel lists no RDMA device", why,
                host.container().isPresent()
                        ? "give the container its devices: --device /dev/infiniband, or the"
                                + " RDMA device plugin's resource"
                        : "load the adapter's driver, such as modprobe mlx5_ib; without an"
                                + " adapter: rdma link add rxe0 type rxe netdev eth0");
    }

    private static void describe(RdmaDevice device, boolean asked, List<Finding> findings) {
        if (device.isIwarp()) {
            findings.add(lacking(asked, device.name(), "iWARP, which is refused",
                    "there, a completed write does not mean that the bytes are placed",
                    "use an InfiniBand or RoCE adapter, or set the adapter to RoCE"));
            return;
        }
        for (RdmaPort port : device.ports()) {
            String subject = device.name() + "/" + port.number();
            String found = port.linkLayer() + ", " + port.state() + ", " + port.rate();
            String why = "only an active port carries anything";
            findings.add(port.isActive()
                    ? ok(subject, found, why)
                    : lacking(asked, subject, found, why, mendPort(port)));
        }
    }

    private static String mendPort(RdmaPort port) {
        if (port.isInfiniband()) {
            return port.state().equals("INIT")
                    ? "start a subnet manager, such as opensm"
                    : "check cable and switch: ibstat, iblinkinfo";
        }
        return "ip link set " + port.gids()
                .stream()
                .flatMap(gid -> gid.network().stream())
                .map(Gid.NetworkInterface::name)
                .findFirst()
                .orElse("INTERFACE") + " up";
    }

    private static Finding address(GidChoice.Chosen chosen) {
        Gid gid = chosen.gid();
        long linkLocal = chosen.port()
                .gids()
                .stream()
                .filter(other -> other.address().isLinkLocalAddress() && !other.equals(gid))
                .count();
        String found = gid.address().getHostAddress() + " on " + place(chosen) + ", GID "
                + gid.index() + ", " + gid.type().configured()
                + gid.network().map(network -> ", " + network.name()).orElse("")
                + (linkLocal == 0 ? "" : "; " + linkLocal + " link-local passed over");
        return ok("address", found, "the first of rdma.gid_type and rdma.verbs.listen on an active"
                + " port; link-local ones reach no other subnet");
    }

    private static String mendAddress(GidType type) {
        return type == GidType.INFINIBAND
                ? "set rdma.gid_type: rocev2 if the adapters are on Ethernet"
                : "ip address add ADDRESS/24 dev INTERFACE, name it under rdma.verbs.listen, or"
                        + " set rdma.gid_type as the network is (rocev2, rocev1, ib)";
    }

    private static Optional<Finding> mtu(GidChoice.Chosen chosen, VerbsConfig.Connection set,
            boolean asked) {
        Integer wanted = set.mtu();
        return chosen.gid().network().map(network -> {
            int carried = network.pathMtuBytes();
            String found = network.name() + " has " + network.mtuBytes() + ", so RDMA "
                    + carried + (wanted == null ? "" : "; rdma.verbs.mtu is " + wanted);
            String why = "an RDMA packet of 4096 bytes needs " + JUMBO_MTU
                    + "; smaller ones cost bandwidth. Both ends and the switches must agree";
            String mend = "ip link set " + network.name() + " mtu " + JUMBO_MTU
                    + ", on the peers and switches too";
            if (wanted != null && wanted > carried) {
                return lacking(asked, "mtu", found, why, mend + "; or rdma.verbs.mtu: auto");
            }
            return carried < LARGEST_MTU
                    ? warn("mtu", found, why, mend)
                    : ok("mtu", found, why);
        });
    }

    private static String place(GidChoice.Chosen chosen) {
        return chosen.device().name() + "/" + chosen.port().number();
    }
}
