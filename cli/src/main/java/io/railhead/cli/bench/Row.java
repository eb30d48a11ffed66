package io.railhead.cli.bench;

import java.util.List;
import java.util.function.ToDoubleFunction;

/** One contender at one size and number of connections: every round of it. */
record Row(Contender contender, long objectBytes, int connections, List<Measured> rounds) {
    private static final double GIB = 1 << 30;

    Row {
        rounds = List.copyOf(rounds);
    }

    /** Gb/s of bodies. */
    Spread gigabits() {
        return spread(Row::gigabits);
    }

    static double gigabits(Measured round) {
        return round.bytes() * 8 / 1e9 / round.seconds();
    }

    /** By bytes, so that what has not ended counts, too. */
    Spread perSecond() {
        return spread(round -> (double) round.bytes() / objectBytes / round.seconds());
    }

    Spread p50Us() {
        return spread(Measured::p50Us);
    }

    Spread p99Us() {
        return spread(Measured::p99Us);
    }

    /** Seconds of processor time for each GiB. */
    Spread serverCpu() {
        return spread(round -> round.serverCpu() * GIB / round.bytes());
    }

    Spread bothCpu() {
        return spread(Row::bothCpu);
    }

    static double bothCpu(Measured round) {
        return (round.serverCpu() + round.clientCpu()) * GIB / round.bytes();
    }

    Spread clientCpu() {
        return spread(round -> round.clientCpu() * GIB / round.bytes());
    }

    Spread seconds() {
        return spread(Measured::seconds);
    }

    Spread storeCpu() {
        return spread(round -> round.storeCpu() * GIB / round.bytes());
    }

    Spread otherCores() {
        return spread(Measured::otherCores);
    }

    long leastRequests() {
        return rounds.stream().mapToLong(Measured::requests).min().orElse(0);
    }

    private Spread spread(ToDoubleFunction<Measured> figure) {
        return Spread.of(rounds.stream().map(round -> figure.applyAsDouble(round)).toList());
    }
}
