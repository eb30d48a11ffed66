package io.railhead.gateway.delivery;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The two deadlines of a transfer whose client waits on HTTP, both from the request's arrival.
 * Clients commonly allow ten seconds in all and then use the buffer for something else.
 *
 * @param decide ends when the first write is posted, or the request is declined
 * @param fence ends when the transfer is fenced
 */
public record RdmaDeadlines(Duration decide, Duration fence) {

    /**
     * Returns the deadlines of a channel's request, whose peer waits for the response, however late
     * the first byte moves.
     */
    public static RdmaDeadlines ofChannel(Duration requestTimeout) {
        return new RdmaDeadlines(requestTimeout, requestTimeout);
    }

    /** Returns whether there is still time to restart. */
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
