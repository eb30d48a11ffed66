package io.railhead.cli.bench;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The plan of the miss benchmark.
 *
 * @param warmSeconds of each span of warming up
 * @param bytes of the large object
 * @param readers at a time of one cold object
 * @param bitsPerSecond that the link lets pass each way
 * @param latencyMillis before each answer of the store
 * @param caches whose start is measured, bytes
 */
record MissesPlan(List<MissCase> cases, int rounds, double warmSeconds, long bytes, int readers,
        long bitsPerSecond, double latencyMillis, List<Long> caches) {

    MissesPlan {
        cases = List.copyOf(cases);
        caches = List.copyOf(caches);
    }

    /** The order in a round: another one begins each. */
    static List<MeasuredSystem> order(MissCase what, int round) {
        List<MeasuredSystem> order = new ArrayList<>(what.contenders());
        Collections.rotate(order, -round);
        return order;
    }

    /** Which objects must be there to be read. */
    List<Long> objects() {
        return cases.stream()
                .filter(what -> !what.writes())
                .map(what -> what.objectBytes(bytes))
                .distinct()
                .toList();
    }
}
