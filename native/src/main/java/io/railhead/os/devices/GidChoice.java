package io.railhead.os.devices;

import java.util.ArrayList;
import java.util.List;

/** The GID chosen for a request, or the reason why there is none. */
public sealed interface GidChoice {

    record Chosen(RdmaDevice device, RdmaPort port, Gid gid) implements GidChoice {}

    /** @param reason the devices found and why none fits, for the configuration's author */
    record None(String reason) implements GidChoice {}

    /**
     * Returns the first GID that fits, by device, port and index. Link-local addresses of RoCE are
     * skipped, since peers of other links cannot reach them; so are inactive ports and iWARP.
     */
    static GidChoice of(List<RdmaDevice> devices, GidRequest request) {
        if (devices.isEmpty()) {
            return new None("the kernel lists no RDMA device");
        }
        List<String> reasons = new ArrayList<>();
        for (RdmaDevice device : devices) {
            for (RdmaPort port : device.ports()) {
                switch (of(device, port, request)) {
                    case Chosen chosen -> {
                        return chosen;
                    }
                    case None(String reason) -> reasons.add(reason);
                }
            }
        }
        return new None("no " + request.describe() + ": " + String.join("; ", reasons));
    }

    private static GidChoice of(RdmaDevice device, RdmaPort port, GidRequest request) {
        String place = device.name() + " port " + port.number();
        if (device.isIwarp()) {
            return new None(device.name()
                    + " is iWARP, where a completed write does not mean that the bytes are placed");
        }
        if (!port.isActive()) {
            return new None(place + " is " + port.state());
        }
        for (Gid gid : port.gids()) {
            if (request.accepts(device.name(), port.number(), gid)) {
                return new Chosen(device, port, gid);
            }
        }
        return new None(place + " has no such GID among " + port.gids().size());
    }
}
