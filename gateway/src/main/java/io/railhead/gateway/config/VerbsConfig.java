package io.railhead.gateway.config;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code rdma.verbs}: RDMA adapters, by reliable connections. */
public record VerbsConfig(boolean enabled, Listening listening, Pin pin, Connection connection,
        Queues queues, Polling polling, Outstanding outstanding) {

    /**
     * Where connections are taken.
     *
     * @param addresses of adapters of this host; none: of every adapter that can be used
     * @param port of rdma_cm; 0 lets the system choose
     */
    public record Listening(List<InetAddress> addresses, int port) {
        public Listening {
            addresses = List.copyOf(addresses);
        }
    }

    /**
     * What is chosen by name instead of by address and kind of GID.
     *
     * @param device such as {@code mlx5_0}; null: any
     * @param port of that device, from 1; means nothing without {@code gidIndex}
     * @param gidIndex into that port's table; null: by address. Indexes change when addresses do
     */
    public record Pin(@Nullable String device, int port, @Nullable Integer gidIndex) {}

    /**
     * A connection's attributes, as the InfiniBand specification numbers them.
     *
     * @param mtu of a path, in bytes, at most; null: the path's own
     * @param serviceLevel null: the path's own
     * @param ackTimeout 4.096 µs × 2^n until a packet is sent again
     * @param retryCount how often it is
     * @param rnrRetry how often after receiver-not-ready, which cannot happen between peers that
     *            keep to their credits
     * @param minRnrTimer code of the shortest wait after it; 12 is 0.64 ms
     */
    public record Connection(@Nullable Integer mtu, int trafficClass,
            @Nullable Integer serviceLevel, int ackTimeout, int retryCount, int rnrRetry,
            int minRnrTimer) {}

    /**
     * What a session's queue pair has; its receives follow from {@code rdma.channel.max_requests}.
     *
     * @param sendDepth work requests
     * @param readDepth reads that may be under way
     */
    public record Queues(int sendDepth, int readDepth) {}

    /**
     * Who looks for completions.
     *
     * @param pollers threads of each port
     * @param spin how long one looks before it sleeps, at most
     */
    public record Polling(int pollers, Duration spin) {}

    /** Bytes posted and not completed, at most; what is over waits. */
    public record Outstanding(ByteCount queuePair, ByteCount principal, ByteCount port) {}
}
