package io.railhead.gateway.config;

import io.railhead.gateway.config.VerbsConfig.Pin;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * {@code rdma.dc}: one mlx5 adapter, by dynamically connected queue pairs.
 *
 * @param pin the device; null for its name: the first that can be used
 * @param mtu of packets, in bytes, which clients must have, too; null: the port's
 * @param initiators of each tenant: requests that it has under way at a time
 * @param keyFile holds the DC key; null: the well-known one
 */
public record DcConfig(boolean enabled, Pin pin, @Nullable Integer mtu, int initiators,
        @Nullable Path keyFile, Sending sending, Outstanding outstanding) {

    /**
     * How packets travel, as the InfiniBand specification numbers it.
     *
     * @param ackTimeout 4.096 µs × 2^n until a packet is sent again
     * @param retryCount how often it is
     * @param rnrRetry how often while a client's target is not ready
     * @param hopLimit routers that may pass a packet on, and one
     */
    public record Sending(int ackTimeout, int retryCount, int rnrRetry, int hopLimit,
            int trafficClass, int serviceLevel) {}

    /** Bytes posted and not completed, at most; what is over waits. */
    public record Outstanding(ByteCount principal, ByteCount port) {}
}
