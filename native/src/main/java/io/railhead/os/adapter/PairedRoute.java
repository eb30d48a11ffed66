package io.railhead.os.adapter;

/**
 * The route from a queue pair to one that rdma_cm does not manage.
 *
 * @param port of this side's device, from 1
 * @param gidIndex the index of this side's GID in the port's table at this moment
 * @param pathMtu the port's, as enum ibv_mtu: neither dialect sends the peer's
 */
public record PairedRoute(int port, int gidIndex, int pathMtu, QueuePairEnd own,
        QueuePairEnd peer) {}
