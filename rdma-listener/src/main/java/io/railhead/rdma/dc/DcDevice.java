package io.railhead.rdma.dc;

import io.railhead.os.adapter.Adapter;
import io.railhead.os.verbs.Mlx5;

/**
 * An opened device with the port that DC uses.
 *
 * @param gids chooses the source address of packets
 */
record DcDevice(Adapter adapter, Mlx5 mlx5, DcFabricConfig config, DcPort port, SourceGids gids) {}
