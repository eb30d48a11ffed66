package io.railhead.gateway.config;

import io.railhead.gateway.config.VerbsConfig.Pin;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * {@code rdma.dc}: one mlx5 adapter, with dynamically connected queue pairs.
 *
 * @param pin the device; a null name stands for the first usable one
 * @param mtu payload bytes of packets, which clients must use too; null for the port's
 * @param initiators the most requests of each tenant that are under way at a time
 * @param keyFile holds the DC key; null for the well-known one
 */
public record DcConfig(boolean enabled, Pin pin, @Nullable Integer mtu, int initiators,
        @Nullable Path keyFile, Sending sending, Outstanding outstanding) {

    /**
     * The attributes of packets, in the InfiniBand specification's numbers.
     *
     * @param ackTimeout 4.096 µs × 2^n until a retransmission
     * @param retryCount the number of retransmissions
     * @param rnrRetry the number of retries while a client's target is not ready
     * @param hopLimit the most routers on the way, plus one
     */
    public record Sending(int ackTimeout, int retryCount, int rnrRetry, int hopLimit,
            int trafficClass, int serviceLevel) {}

    /** The most bytes posted and not completed; further ones wait. */
    public record Outstanding(ByteCount principal, ByteCount port) {}
}
