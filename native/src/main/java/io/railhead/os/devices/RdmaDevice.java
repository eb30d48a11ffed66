package io.railhead.os.devices;

import java.util.List;

/**
 * An RDMA device as the kernel lists it.
 *
 * @param name such as mlx5_0
 * @param nodeType the kernel's word: CA, or RNIC for iWARP
 * @param numaNode the memory node that it is attached to, -1 where that means nothing
 */
public record RdmaDevice(String name, String nodeType, int numaNode, List<RdmaPort> ports) {
    public RdmaDevice {
        ports = List.copyOf(ports);
    }

    /** Railhead refuses it: there, a completed write does not mean that the bytes are placed. */
    public boolean isIwarp() {
        return nodeType.equals("RNIC");
    }
}
