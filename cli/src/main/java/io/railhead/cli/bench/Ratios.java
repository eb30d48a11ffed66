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
record Ratios(Row row, Contender bestBandwidth, Spread bandwidth, Contender bestCpu, Spread cpu) {

    static List<Ratios> of(List<Row> rows) {
        List<Ratios> ratios = new ArrayList<>();
        for (Row row : rows) {
            if (row.contender().isRailhead()) {
                List<Row> others = rows.stream()
                        .filter(other -> other.contender().isPeer()
                                && other.objectBytes() == row.objectBytes()
                                && other.connections() == row.connections())
                        .toList();
                beside(row, others).ifPresent(ratios::add);
            }
        }
        return ratios;
    }

    /** Throughput of what goes one-sided, of one thread that only copies the same. */
    record OfCopying(Row row, Spread bandwidth) {

        static List<OfCopying> of(List<Row> rows) {
            List<OfCopying> ratios = new ArrayList<>();
            for (Row copied : rows) {
                if (copied.contender() == Contender.COPY) {
                    rows.stream()
                            .filter(row -> row.contender().isRailhead()
                                    && row.contender().isOneSided()
                                    && row.objectBytes() == copied.objectBytes()
                                    && row.connections() == copied.connections())
                            .map(row -> new OfCopying(row,
                                    ratio(row, copied, round -> Row.gigabits(round))))
                            .forEach(ratios::add);
                }
            }
            return ratios;
        }
    }

    private static Optional<Ratios> beside(Row row, List<Row> others) {
        Optional<Row> widest = others.stream()
                .max(Comparator.comparingDouble(other -> other.gigabits().median()));
        Optional<Row> leanest = others.stream()
                .min(Comparator.comparingDouble(other -> other.bothCpu().median()));
        return widest.flatMap(wide -> leanest.map(lean -> new Ratios(row, wide.contender(),
                ratio(row, wide, round -> Row.gigabits(round)), lean.contender(),
                ratio(row, lean, round -> Row.bothCpu(round)))));
    }

    private static Spread ratio(Row ours, Row theirs, ToDoubleFunction<Measured> figure) {
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < ours.rounds().size(); round++) {
            ratios.add(figure.applyAsDouble(ours.rounds().get(round))
                    / figure.applyAsDouble(theirs.rounds().get(round)));
        }
        return Spread.of(ratios);
    }
}
