package io.railhead.gateway;

import static java.util.Objects.requireNonNull;

import io.railhead.os.devices.Gid;
import io.railhead.os.devices.GidType;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaPort;
import io.railhead.os.verbs.FakeMlx5;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.dc.DcFabric;
import io.railhead.rdma.dc.DcFabricConfig;
import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A machine with an mlx5 adapter that is memory. */
final class DcMachine implements DcOpening.Machine {
    private final FakeMlx5 adapter;
    private volatile @Nullable Fabric opened;

    private DcMachine(FakeMlx5 adapter) {
        this.adapter = adapter;
    }

    FakeMlx5 adapter() {
        return adapter;
    }

    /** The fabric that was opened last. */
    Fabric fabric() {
        return requireNonNull(opened);
    }

    static DcMachine open() {
        try {
            return new DcMachine(FakeMlx5.open());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public List<RdmaDevice> devices() {
        Gid gid = new Gid(0, InetAddress.ofLiteral("10.0.0.1"), GidType.ROCE_V2,
                Optional.of(new Gid.NetworkInterface("eth0", 4200)));
        return List.of(new RdmaDevice(FakeMlx5.DEVICE, "CA", 0,
                List.of(new RdmaPort(1, "ACTIVE", "Ethernet", "100 Gb/sec", List.of(gid)))));
    }

    @Override
    public Fabric open(DcFabricConfig config, ClientSessions clientSessions)
            throws IOException {
        Fabric fabric = new DcFabric(config, adapter.verbs(), adapter, this::devices,
                clientSessions);
        opened = fabric;
        return fabric;
    }
}
