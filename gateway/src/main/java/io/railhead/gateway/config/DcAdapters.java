package io.railhead.gateway.config;

import io.railhead.gateway.config.GatewayConfig.Rdma;
import io.railhead.os.devices.GidRequest;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaPort;
import io.railhead.rdma.dc.DcFabricConfig;
import io.railhead.rdma.dc.DcFabricConfig.OutstandingBytes;
import io.railhead.rdma.dc.DcFabricConfig.Pool;
import io.railhead.rdma.dc.DcFabricConfig.Sending;
import io.railhead.rdma.dc.DcKey;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Chooses the ports of {@code rdma.dc} from one reading of the devices. */
public final class DcAdapters {
    private DcAdapters() {}

    /**
     * Returns the named port, or each port with a fitting GID, in order. The fabric checks later
     * whether the port is active and an mlx5 one.
     *
     * @param device replaces the configured device; null for that one
     */
    public static List<DcFabricConfig> choose(Rdma rdma, List<RdmaDevice> devices, DcKey key,
            @Nullable String device) {
        DcConfig dc = rdma.dc();
        String named = device == null ? dc.pin().device() : device;
        GidRequest gids = gids(rdma);
        List<DcFabricConfig> chosen = new ArrayList<>();
        for (RdmaDevice each : devices) {
            for (RdmaPort port : each.ports()) {
                boolean fits = named == null
                        ? !each.isIwarp() && port.gids()
                                .stream()
                                .anyMatch(gid -> gids.accepts(each.name(), port.number(), gid))
                        : named.equals(each.name()) && port.number() == dc.pin().port();
                if (fits) {
                    chosen.add(config(dc, each.name(), port.number(), gids, key));
                }
            }
        }
        return chosen;
    }

    private static GidRequest gids(Rdma rdma) {
        VerbsConfig.Pin pin = rdma.dc().pin();
        GidRequest request = GidRequest.of(rdma.gidType());
        return pin.device() == null || pin.gidIndex() == null
                ? request
                : request.pinned(new GidRequest.Pin(pin.device(), pin.port(), pin.gidIndex()));
    }

    private static DcFabricConfig config(DcConfig dc, String device, int port, GidRequest gids,
            DcKey key) {
        DcConfig.Sending sending = dc.sending();
        DcFabricConfig built = DcFabricConfig.on(device, port, gids)
                .with(key)
                .with(Pool.DEFAULT.withInitiators(dc.initiators()))
                .with(new Sending(sending.ackTimeout(), sending.retryCount(), sending.rnrRetry(),
                        sending.hopLimit(), sending.trafficClass(), sending.serviceLevel()))
                .with(new OutstandingBytes(dc.outstanding().principal().bytes(),
                        dc.outstanding().port().bytes()));
        Integer mtu = dc.mtu();
        return mtu == null ? built : built.withMtu(mtu);
    }
}
