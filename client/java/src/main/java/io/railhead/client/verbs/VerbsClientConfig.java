package io.railhead.client.verbs;

import io.railhead.os.adapter.QueuePairConfig;
import java.net.InetAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a peer's connection.
 *
 * @param source this side's address, which selects its device; null for the route's own
 * @param maxRequests from the HTTP open: the most answers that may be under way
 * @param timeout the timeout of each call
 */
public record VerbsClientConfig(@Nullable InetAddress source,
        QueuePairConfig queuePairs, int maxRequests, Duration timeout) {

    /** Returns the defaults, for a gateway that grants so many requests. */
    public static VerbsClientConfig of(int maxRequests, Duration timeout) {
        return new VerbsClientConfig(null, QueuePairConfig.DEFAULT,
                maxRequests, timeout);
    }

    public VerbsClientConfig from(InetAddress other) {
        return new VerbsClientConfig(other, queuePairs, maxRequests, timeout);
    }

    /** @param bytes {@code path_mtu} from the HTTP open */
    public VerbsClientConfig withMaxPathMtu(int bytes) {
        return new VerbsClientConfig(source,
                queuePairs.withMaxPathMtu(Math.min(bytes, queuePairs.maxPathMtu())), maxRequests,
                timeout);
    }
}
