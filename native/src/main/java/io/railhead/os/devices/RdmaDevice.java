package io.railhead.os.devices;

import java.util.List;

/**
 * An RDMA device as the kernel lists it.
 *
 * @param name such as mlx5_0
 * @param nodeType the kernel's word: CA, or RNIC for iWARP
 * @param numaNode the device's memory node; -1 for none
 */
public record RdmaDevice(String name, String nodeType, int numaNode, List<RdmaPort> ports) {
    public RdmaDevice {
        ports = List.copyOf(ports);
    }

    /**
     * Returns whether the device is iWARP, which Railhead refuses: there, a completed write does
     * not mean that the bytes have arrived.
     */
    public boolean isIwarp() {
        return nodeType.equals("RNIC");
    }
}
