package io.railhead.rdma.verbs;

import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.devices.GidRequest;
import io.railhead.os.devices.GidType;
import io.railhead.protocol.message.SessionLimits;
import io.railhead.rdma.poller.SharedBudget;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/**
 * The configuration of the verbs fabric.
 *
 * @param listen addresses of RDMA devices with the port for rdma_cm; each address selects its
 *            device
 * @param gids the GIDs by which connections may come; others are refused
 */
public record VerbsFabricConfig(List<InetSocketAddress> listen, GidRequest gids,
        QueuePairConfig queuePairs, Polling polling, Peers peers, OutstandingBytes outstanding,
        Pairs pairs) {
    /** The default port of rdma_cm. */
    public static final int DEFAULT_PORT = 7471;

    public VerbsFabricConfig {
        listen = List.copyOf(listen);
        if (listen.isEmpty()) {
            throw new IllegalArgumentException("listen must name an address");
        }
    }

    public static VerbsFabricConfig at(InetSocketAddress... listen) {
        return new VerbsFabricConfig(List.of(listen), GidRequest.of(GidType.ROCE_V2),
                QueuePairConfig.DEFAULT,
                Polling.DEFAULT, Peers.DEFAULT, OutstandingBytes.DEFAULT, Pairs.DEFAULT);
    }

    public VerbsFabricConfig with(GidRequest other) {
        return new VerbsFabricConfig(listen, other, queuePairs, polling, peers,
                outstanding, pairs);
    }

    public VerbsFabricConfig with(Peers other) {
        return new VerbsFabricConfig(listen, gids, queuePairs, polling, other,
                outstanding, pairs);
    }

    public VerbsFabricConfig with(QueuePairConfig other) {
        return new VerbsFabricConfig(listen, gids, other, polling, peers, outstanding,
                pairs);
    }

    public VerbsFabricConfig with(Polling other) {
        return new VerbsFabricConfig(listen, gids, queuePairs, other, peers, outstanding,
                pairs);
    }

    public VerbsFabricConfig with(Pairs other) {
        return new VerbsFabricConfig(listen, gids, queuePairs, polling, peers,
                outstanding, other);
    }

    /**
     * Queue pairs that are paired over HTTP.
     *
     * @param idle the time without a transfer after which a pair ends
     * @param stagingBytes the most memory that peers may write into, in all; 0 for none
     */
    public record Pairs(Duration idle, long stagingBytes) {
        static final Pairs DEFAULT = new Pairs(Duration.ofSeconds(60), 0);

        public Pairs {
            requirePositive("idle", idle.toNanos());
        }
    }

    /**
     * The threads that handle completions.
     *
     * @param pollers the number for each device; sessions are spread over them
     * @param spin the longest time that a poller spins before it sleeps
     * @param completions the depth of a poller's completion queue; less if the device supports
     *            less. Peers whose queue pair does not fit are refused
     */
    public record Polling(int pollers, Duration spin, int completions) {
        static final Polling DEFAULT = new Polling(1, Duration.ofNanos(50_000), 1 << 16);

        public Polling {
            requirePositive("pollers", pollers);
            requirePositive("completions", completions);
            if (pollers > SharedBudget.MAX_POLLERS) {
                throw new IllegalArgumentException("pollers must be at most "
                        + SharedBudget.MAX_POLLERS + ": " + pollers);
            }
        }
    }

    /**
     * The limits of peers.
     *
     * @param proofTimeout the time from the connection request to PROOF
     * @param maxUnproven the most connections that have not proved themselves
     * @param maxBuffers per session
     * @param maxRequests outstanding per session
     * @param keepAlive the interval of a peer's messages; a silence of three intervals ends its
     *            session
     * @param fenceGrace how long a fence waits for posted work before it breaks the connection
     */
    public record Peers(Duration proofTimeout, int maxUnproven, int maxBuffers, int maxRequests,
            Duration keepAlive, Duration fenceGrace) {
        static final Peers DEFAULT = new Peers(Duration.ofSeconds(2), 16, 1024, 32,
                Duration.ofSeconds(10), Duration.ofMillis(500));

        public Peers {
            requirePositive("maxUnproven", maxUnproven);
            requirePositive("maxBuffers", maxBuffers);
            requirePositive("maxRequests", maxRequests);
        }

        SessionLimits limits() {
            return new SessionLimits(maxBuffers, maxRequests, (int) keepAlive.toMillis());
        }
    }

    /**
     * The most bytes that may be posted and not completed.
     *
     * @param perPrincipal on one port, over all of its sessions there
     */
    public record OutstandingBytes(long perQueuePair, long perPrincipal, long perPort) {
        static final OutstandingBytes DEFAULT = new OutstandingBytes(16L << 20, 64L << 20,
                256L << 20);

        public OutstandingBytes {
            requirePositive("perQueuePair", perQueuePair);
            requirePositive("perPrincipal", perPrincipal);
            requirePositive("perPort", perPort);
        }
    }

    static void requirePositive(String name, long value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " must be > 0: " + value);
        }
    }
}
