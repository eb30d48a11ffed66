package io.railhead.cli.bench;

import java.util.ArrayList;
import java.util.List;

/**
 * The plan of the comparison.
 *
 * @param warmSeconds for which each contender is read at each size before anything counts
 */
record PeersPlan(List<MeasuredSystem> contenders, List<Long> sizes, List<Integer> connections,
        int rounds, double seconds, double warmSeconds) {
    private static final double LEAD = 0.25;
    /** What a turn costs beside its measured time: connections, sessions, windows. */
    private static final double OVERHEAD_SECONDS = 0.1;
    private static final int WARM_CONNECTIONS = 16;

    PeersPlan {
        contenders = List.copyOf(contenders);
        sizes = List.copyOf(sizes);
        connections = List.copyOf(connections);
    }

    /** Before the measured part of each turn. */
    double leadSeconds() {
        return LEAD * seconds;
    }

    /** Never more than will be measured with. */
    int warmConnections() {
        return Math.min(WARM_CONNECTIONS,
                connections.stream().mapToInt(Integer::intValue).max().orElse(1));
    }

    int turns() {
        return sizes.stream().mapToInt(size -> contenders(size).size()).sum() * connections.size()
                * rounds;
    }

    double secondsOf(int turns) {
        return turns * (seconds + leadSeconds() + OVERHEAD_SECONDS);
    }

    /** Those that are measured at this size. */
    List<MeasuredSystem> contenders(long objectBytes) {
        return contenders.stream()
                .filter(measuredSystem -> measuredSystem.isMeasuredAt(objectBytes))
                .toList();
    }

    /** The order in a round: another one begins each, so that none always follows the same. */
    List<MeasuredSystem> order(int round, long objectBytes) {
        List<MeasuredSystem> order = new ArrayList<>(contenders(objectBytes));
        java.util.Collections.rotate(order, -round);
        return order;
    }
}
