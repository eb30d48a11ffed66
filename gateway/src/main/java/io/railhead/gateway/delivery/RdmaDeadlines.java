package io.railhead.gateway.delivery;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The two deadlines of a transfer whose client waits on HTTP, both from the request's arrival.
 * Clients commonly allow ten seconds in all and then use the buffer for something else.
 *
 * @param decide until the first write is posted, or the request is declined
 * @param fence until the transfer is fenced
 */
public record RdmaDeadlines(Duration decide, Duration fence) {

    /** A peer of a channel waits for its answer, however late the first byte can move. */
    public static RdmaDeadlines ofChannel(Duration requestTimeout) {
        return new RdmaDeadlines(requestTimeout, requestTimeout);
    }

    /** Whether there is still time to begin again. */
    public boolean isOpen(long arrivedAtNanos) {
        return left(decide, arrivedAtNanos) > 0;
    }

    long decideMillis(long arrivedAtNanos) {
        return left(decide, arrivedAtNanos);
    }

    public long fenceMillis(long arrivedAtNanos) {
        return left(fence, arrivedAtNanos);
    }

    private static long left(Duration deadline, long arrivedAtNanos) {
        return deadline.toMillis()
                - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - arrivedAtNanos);
    }
}
