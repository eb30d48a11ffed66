package io.railhead.os.devices;

import java.util.List;

/**
 * A port of a device.
 *
 * @param number from 1
 * @param state the kernel's word, such as ACTIVE, DOWN or INIT
 * @param linkLayer InfiniBand or Ethernet
 * @param rate the kernel's words, such as "100 Gb/sec (4X EDR)"
 * @param gids those in use, by index
 */
public record RdmaPort(int number, String state, String linkLayer, String rate, List<Gid> gids) {
    public RdmaPort {
        gids = List.copyOf(gids);
    }

    public boolean isActive() {
        return state.equals("ACTIVE");
    }

    public boolean isInfiniband() {
        return linkLayer.equals("InfiniBand");
    }
}
