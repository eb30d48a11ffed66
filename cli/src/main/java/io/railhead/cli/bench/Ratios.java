package io.railhead.cli.bench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * A contender of ours beside the best of the others at the same size and connections: medians of
 * the rounds' own ratios, since what disturbs a round disturbs all of it.
 *
 * @param bestBandwidth whoever has the highest median
 * @param bandwidth ours of theirs; more is better
 * @param bestCpu whoever has the lowest median, server and client
 * @param cpu ours of theirs; less is better
 */
record Ratios(BenchRow row, MeasuredSystem bestBandwidth, Spread bandwidth, MeasuredSystem bestCpu,
        Spread cpu) {

    static List<Ratios> of(List<BenchRow> rows) {
        List<Ratios> ratios = new ArrayList<>();
        for (BenchRow benchRow : rows) {
            if (benchRow.contender().isRailhead()) {
                List<BenchRow> others = rows.stream()
                        .filter(other -> other.contender().isPeer()
                                && other.objectBytes() == benchRow.objectBytes()
                                && other.connections() == benchRow.connections())
                        .toList();
                beside(benchRow, others).ifPresent(ratios::add);
            }
        }
        return ratios;
    }

    /** Throughput of what goes one-sided, of one thread that only copies the same. */
    record OfCopying(BenchRow row, Spread bandwidth) {

        static List<OfCopying> of(List<BenchRow> rows) {
            List<OfCopying> ratios = new ArrayList<>();
            for (BenchRow copied : rows) {
                if (copied.contender() == MeasuredSystem.COPY) {
                    rows.stream()
                            .filter(benchRow -> benchRow.contender().isRailhead()
                                    && benchRow.contender().isOneSided()
                                    && benchRow.objectBytes() == copied.objectBytes()
                                    && benchRow.connections() == copied.connections())
                            .map(benchRow -> new OfCopying(benchRow,
                                    ratio(benchRow, copied, round -> BenchRow.gigabits(round))))
                            .forEach(ratios::add);
                }
            }
            return ratios;
        }
    }

    private static Optional<Ratios> beside(BenchRow benchRow, List<BenchRow> others) {
        Optional<BenchRow> widest = others.stream()
                .max(Comparator.comparingDouble(other -> other.gigabits().median()));
        Optional<BenchRow> leanest = others.stream()
                .min(Comparator.comparingDouble(other -> other.bothCpu().median()));
        return widest.flatMap(wide -> leanest.map(lean -> new Ratios(benchRow, wide.contender(),
                ratio(benchRow, wide, round -> BenchRow.gigabits(round)), lean.contender(),
                ratio(benchRow, lean, round -> BenchRow.bothCpu(round)))));
    }

    private static Spread ratio(BenchRow ours, BenchRow theirs,
            ToDoubleFunction<RunResult> figure) {
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < ours.rounds().size(); round++) {
            ratios.add(figure.applyAsDouble(ours.rounds().get(round))
                    / figure.applyAsDouble(theirs.rounds().get(round)));
        }
        return Spread.of(ratios);
    }
}
