package io.railhead.cli.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Finds figures that are doubtful by the figures themselves. */
final class ValidityChecks {
    private static final double LEAST_SECONDS = 0.5;
    private static final int LEAST_ROUNDS = 5;
    private static final double MOST_SPREAD = 0.3;
    private static final double MOST_OTHER_CORES = 0.1;
    private static final double MOST_STORE_SHARE = 0.05;
    /** Below it a p99 is one request's. */
    static final int LEAST_REQUESTS = 100;

    private ValidityChecks() {}

    /** Fewer rounds say little of how far they lie apart. */
    static boolean areFew(int rounds) {
        return rounds < LEAST_ROUNDS;
    }

    static List<String> of(PeersPlan plan, List<BenchRow> rows, boolean isPinned) {
        List<String> doubts = new ArrayList<>();
        if (areFew(plan.rounds()) || plan.seconds() < LEAST_SECONDS) {
            doubts.add(String.format(Locale.ROOT,
                    "TOO SHORT to conclude anything from: %d rounds of %s s; %d of %s s at least",
                    plan.rounds(), plan.seconds(), LEAST_ROUNDS, LEAST_SECONDS));
        }
        doubts.addAll(ofMachine(rows));
        if (!isPinned) {
            doubts.add("Nothing was pinned: server and client took each other's time.");
        }
        rows.stream()
                .filter(ValidityChecks::asksStore)
                .forEach(benchRow -> doubts
                        .add(benchRow.contender().label + " asked the store at "
                                + SizeFormat.text(benchRow.objectBytes())
                                + ", " + benchRow.connections()
                                + " connections: not all were hits"));
        return doubts;
    }

    /** What other work did to them. */
    static List<String> ofMachine(List<BenchRow> rows) {
        List<String> doubts = new ArrayList<>();
        long noisy = rows.stream().filter(ValidityChecks::isNoisy).count();
        if (noisy > 0) {
            doubts.add(String.format(Locale.ROOT,
                    "NOISY: in %d of %d rows the rounds lie more than %.0f %% apart (marked ~)",
                    noisy, rows.size(), 100 * MOST_SPREAD));
        }
        double others = Spread
                .of(rows.stream().map(benchRow -> benchRow.otherCores().median()).toList())
                .median();
        if (others > MOST_OTHER_CORES) {
            doubts.add(String.format(Locale.ROOT,
                    "BUSY: other work took %.2f of the machine's cores (median of all rows)",
                    others));
        }
        return doubts;
    }

    static boolean isNoisy(BenchRow benchRow) {
        return benchRow.gigabits().relative() > MOST_SPREAD;
    }

    /** Hits leave the store alone, unless the rule is to ask it. */
    private static boolean asksStore(BenchRow benchRow) {
        return benchRow.contender() != MeasuredSystem.RAILHEAD_STRONG
                && benchRow.storeCpu().median() > MOST_STORE_SHARE * benchRow.serverCpu().median();
    }
}
