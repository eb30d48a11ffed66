package io.railhead.client.verbs;

import io.railhead.os.adapter.QueuePairConfig;
import java.net.InetAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a peer's connection.
 *
 * @param source this side's address, which names its device; the route's own if null
 * @param maxRequests as the HTTP open answered: so many answers may be on their way at a time
 * @param timeout of each call
 */
public record VerbsClientConfig(@Nullable InetAddress source,
        QueuePairConfig queuePairs, int maxRequests, Duration timeout) {

    /** With the defaults, for a gateway that grants as many requests. */
    public static VerbsClientConfig of(int maxRequests, Duration timeout) {
        return new VerbsClientConfig(null, QueuePairConfig.DEFAULT,
                maxRequests, timeout);
    }

    public VerbsClientConfig from(InetAddress other) {
        return new VerbsClientConfig(other, queuePairs, maxRequests, timeout);
    }

    /**
     * @param bytes as the HTTP open answered, {@code path_mtu}
     */
    public VerbsClientConfig withMaxPathMtu(int bytes) {
        return new VerbsClientConfig(source,
                queuePairs.withMaxPathMtu(Math.min(bytes, queuePairs.maxPathMtu())), maxRequests,
                timeout);
    }
}
