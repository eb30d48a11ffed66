package io.railhead.gateway.cluster;

import io.railhead.cluster.ClusterConfig;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The pace of questions to members that owned runs before. One that misses again and again, or that
 * does not answer, is left alone for a while: what it would give the store has, too. Any thread.
 */
final class PreviousOwners {
    /** Misses in a row that may be chance: members hold some objects and not others. */
    static final int MOST_MISSES = 8;
    static final Duration AFTER_MISSES = Duration.ofSeconds(1);
    static final Duration AFTER_SILENCE = Duration.ofSeconds(30);

    private final LongSupplier nanoClock;
    private final Map<ClusterConfig.Address, Integer> misses = new ConcurrentHashMap<>();
    private final Map<ClusterConfig.Address, Long> restingUntilNanos = new ConcurrentHashMap<>();

    /** @param nanoClock monotonic */
    PreviousOwners(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    boolean isResting(ClusterConfig.Address member) {
        Long until = restingUntilNanos.get(member);
        if (until == null) {
            return false;
        }
        if (nanoClock.getAsLong() - until < 0) {
            return true;
        }
        boolean _ = restingUntilNanos.remove(member, until);
        return false;
    }

    /** Notes the end of a question. */
    void ended(ClusterConfig.Address member, PeerFetch.Result result, long doneBytes) {
        switch (result) {
            case SILENT, UNREACHABLE, DAMAGED -> rest(member, AFTER_SILENCE);
            case FILLED, UNWANTED -> misses.remove(member);
            case NOT_HELD, REFUSED, BUSY, BROKEN -> {
                if (doneBytes > 0) {
                    misses.remove(member);
                } else if (misses.merge(member, 1, Integer::sum) >= MOST_MISSES) {
                    rest(member, AFTER_MISSES);
                }
            }
        }
    }

    private void rest(ClusterConfig.Address member, Duration time) {
        misses.remove(member);
        restingUntilNanos.put(member, nanoClock.getAsLong() + time.toNanos());
    }
}
