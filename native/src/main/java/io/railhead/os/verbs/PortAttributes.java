package io.railhead.os.verbs;

/**
 * The current state of a port in the library: struct ibv_port_attr.
 *
 * @param state enum ibv_port_state; 4 is ACTIVE
 * @param activeMtu enum ibv_mtu: 1 is 256 bytes, each further value doubles
 * @param gids the length of the GID table, unused entries included
 * @param linkLayer 1 InfiniBand, 2 Ethernet
 */
public record PortAttributes(int state, int activeMtu, int gids, int lid, int linkLayer) {
    private static final int ACTIVE = 4;

    public boolean isActive() {
        return state == ACTIVE;
    }

    public int mtuBytes() {
        return 128 << activeMtu;
    }
}
