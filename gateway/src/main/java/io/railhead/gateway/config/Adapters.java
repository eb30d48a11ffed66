package io.railhead.gateway.config;

import io.railhead.gateway.config.GatewayConfig.Rdma;
import io.railhead.os.devices.GidChoice;
import io.railhead.os.devices.GidRequest;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaPort;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Chooses the adapters' addresses for a configuration from one reading of the devices. */
public final class Adapters {
    private Adapters() {}

    /**
     * Returns one choice for each address under {@code rdma.verbs.listen}, or one for the pinned
     * GID, or one for each usable port; at least one. The choice is the same whether verbs are
     * enabled or not.
     */
    public static List<GidChoice> choose(Rdma rdma, List<RdmaDevice> all) {
        VerbsConfig.Pin pin = rdma.verbs().pin();
        List<RdmaDevice> devices = all.stream()
                .filter(device -> pin.device() == null || pin.device().equals(device.name()))
                .toList();
        if (devices.isEmpty() && !all.isEmpty()) {
            return List.of(new GidChoice.None("there is no device " + pin.device() + " among "
                    + String.join(", ", all.stream().map(RdmaDevice::name).toList())));
        }
        GidRequest request = wanted(rdma);
        if (request.pin().isPresent()) {
            return List.of(GidChoice.of(devices, request));
        }
        if (!rdma.verbs().listening().addresses().isEmpty()) {
            return rdma.verbs()
                    .listening()
                    .addresses()
                    .stream()
                    .map(address -> GidChoice.of(devices, request.at(address)))
                    .toList();
        }
        List<GidChoice> ports = eachPort(devices, request);
        return ports.isEmpty() ? List.of(GidChoice.of(devices, request)) : ports;
    }

    /** Returns the GIDs by which peers may connect, whatever their addresses. */
    public static GidRequest wanted(Rdma rdma) {
        return new GidRequest(rdma.gidType(), Optional.empty(),
                Optional.ofNullable(pinned(rdma.verbs().pin())));
    }

    private static GidRequest.@Nullable Pin pinned(VerbsConfig.Pin pin) {
        return pin.device() == null || pin.gidIndex() == null
                ? null
                : new GidRequest.Pin(pin.device(), pin.port(), pin.gidIndex());
    }

    private static List<GidChoice> eachPort(List<RdmaDevice> devices, GidRequest request) {
        List<GidChoice> chosen = new ArrayList<>();
        for (RdmaDevice device : devices) {
            for (RdmaPort port : device.ports()) {
                RdmaDevice alone = new RdmaDevice(device.name(), device.nodeType(),
                        device.numaNode(), List.of(port));
                if (GidChoice.of(List.of(alone), request) instanceof GidChoice.Chosen one) {
                    chosen.add(new GidChoice.Chosen(device, port, one.gid()));
                }
            }
        }
        return chosen;
    }
}
