package io.railhead.os.verbs;

/**
 * A port as the library sees it now: struct ibv_port_attr.
 *
 * @param state enum ibv_port_state; 4 is ACTIVE
 * @param activeMtu enum ibv_mtu: 1 is 256 bytes, each next one doubles
 * @param gids the length of the GID table, holes included
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
