package io.railhead.backend.aws;

import java.time.Duration;
import software.amazon.awssdk.retries.api.BackoffStrategy;

/**
 * Values that need no configuration, and that tests make smaller.
 *
 * @param retryDelay between attempts of one request
 * @param ejectAfter failed objects after which an endpoint is ejected
 * @param penalty the time of an ejection, by the number of ejections in a row
 */
record Tuning(BackoffStrategy retryDelay, int ejectAfter, BackoffStrategy penalty) {
    static final Tuning DEFAULT = new Tuning(
            BackoffStrategy.exponentialDelay(Duration.ofMillis(50), Duration.ofSeconds(2)), 3,
            BackoffStrategy.exponentialDelayHalfJitter(Duration.ofSeconds(1),
                    Duration.ofSeconds(20)));
}
