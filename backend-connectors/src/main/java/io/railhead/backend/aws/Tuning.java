package io.railhead.backend.aws;

import java.time.Duration;
import software.amazon.awssdk.retries.api.BackoffStrategy;

/**
 * Figures that nobody needs to configure and tests want smaller.
 *
 * @param retryDelay between attempts of one request
 * @param ejectAfter failures in a row, of one endpoint
 * @param penalty how long an endpoint stays out, by how often it has been put out in a row
 */
record Tuning(BackoffStrategy retryDelay, int ejectAfter, BackoffStrategy penalty) {
    static final Tuning DEFAULT = new Tuning(
            BackoffStrategy.exponentialDelay(Duration.ofMillis(50), Duration.ofSeconds(2)), 3,
            BackoffStrategy.exponentialDelayHalfJitter(Duration.ofSeconds(1),
                    Duration.ofSeconds(20)));
}
