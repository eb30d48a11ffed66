package io.railhead.cli.bench;

import java.util.List;
import java.util.function.ToDoubleFunction;

/** One contender at one size and number of connections: every round of it. */
record BenchRow(MeasuredSystem contender, long objectBytes, int connections,
        List<RunResult> rounds) {
    private static final double GIB = 1 << 30;

    BenchRow {
        rounds = List.copyOf(rounds);
    }

    /** Gb/s of bodies. */
    Spread gigabits() {
        return spread(BenchRow::gigabits);
    }

    static double gigabits(RunResult round) {
        return round.bytes() * 8 / 1e9 / round.seconds();
    }

    /** By bytes, so that what has not ended counts, too. */
    Spread perSecond() {
        return spread(round -> (double) round.bytes() / objectBytes / round.seconds());
    }

    Spread p50Us() {
        return spread(RunResult::p50Us);
    }

    Spread p99Us() {
        return spread(RunResult::p99Us);
    }

    /** Seconds of processor time for each GiB. */
    Spread serverCpu() {
        return spread(round -> round.serverCpu() * GIB / round.bytes());
    }

    Spread bothCpu() {
        return spread(BenchRow::bothCpu);
    }

    static double bothCpu(RunResult round) {
        return (round.serverCpu() + round.clientCpu()) * GIB / round.bytes();
    }

    Spread clientCpu() {
        return spread(round -> round.clientCpu() * GIB / round.bytes());
    }

    Spread seconds() {
        return spread(RunResult::seconds);
    }

    Spread storeCpu() {
        return spread(round -> round.storeCpu() * GIB / round.bytes());
    }

    Spread otherCores() {
        return spread(RunResult::otherCores);
    }

    long leastRequests() {
        return rounds.stream().mapToLong(RunResult::requests).min().orElse(0);
    }

    private Spread spread(ToDoubleFunction<RunResult> figure) {
        return Spread.of(rounds.stream().map(round -> figure.applyAsDouble(round)).toList());
    }
}
