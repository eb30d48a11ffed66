package io.railhead.os.adapter;

/**
 * The route from a queue pair to one that rdma_cm knows nothing of.
 *
 * @param port of the own device, from 1
 * @param gidIndex of the own GID in the port's table, at this moment
 * @param pathMtu the port's, as enum ibv_mtu: neither dialect says the peer's
 */
public record PairedRoute(int port, int gidIndex, int pathMtu, QueuePairEnd own,
        QueuePairEnd peer) {}
