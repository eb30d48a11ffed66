package io.railhead.gateway.config;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code rdma.verbs}: RDMA adapters with reliable connections. */
public record VerbsConfig(boolean enabled, Listening listening, Pin pin, Connection connection,
        Queues queues, Polling polling, Outstanding outstanding) {

    /**
     * The listening addresses of connections.
     *
     * @param addresses of adapters of this host; empty for every usable adapter
     * @param port of rdma_cm; 0 lets the system choose
     */
    public record Listening(List<InetAddress> addresses, int port) {
        public Listening {
            addresses = List.copyOf(addresses);
        }
    }

    /**
     * Choices by name in place of address and GID type.
     *
     * @param device such as {@code mlx5_0}; null for any
     * @param port of that device, from 1; ignored without {@code gidIndex}
     * @param gidIndex into that port's table; null to choose by address. Indexes change with
     *            addresses
     */
    public record Pin(@Nullable String device, int port, @Nullable Integer gidIndex) {}

    /**
     * A connection's attributes, in the InfiniBand specification's numbers.
     *
     * @param mtu the limit of a path's MTU, in bytes; null for the path's own
     * @param serviceLevel null for the path's own
     * @param ackTimeout 4.096 µs × 2^n until a retransmission
     * @param retryCount the number of retransmissions
     * @param rnrRetry the number of retries after receiver-not-ready, which peers within their
     *            credits never cause
     * @param minRnrTimer the code of the shortest wait after receiver-not-ready; 12 is 0.64 ms
     */
    public record Connection(@Nullable Integer mtu, int trafficClass,
            @Nullable Integer serviceLevel, int ackTimeout, int retryCount, int rnrRetry,
            int minRnrTimer) {}

    /**
     * The depths of a session's queue pair; its receives follow from
     * {@code rdma.channel.max_requests}.
     *
     * @param sendDepth the most work requests
     * @param readDepth the most outstanding READs
     */
    public record Queues(int sendDepth, int readDepth) {}

    /**
     * The pollers of completions.
     *
     * @param pollers the threads of each port
     * @param spin the longest time that a poller spins before it sleeps
     */
    public record Polling(int pollers, Duration spin) {}

    /** The most bytes posted and not completed; further ones wait. */
    public record Outstanding(ByteCount queuePair, ByteCount principal, ByteCount port) {}
}
