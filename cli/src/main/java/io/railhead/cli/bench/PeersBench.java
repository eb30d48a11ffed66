package io.railhead.cli.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Rounds in which each contender gets its turn, at each size and number of connections. */
final class PeersBench {
    private final PeersPlan plan;
    private final TestBed testBed;
    private final BenchClient client;
    private final Consumer<String> say;
    private final List<String> failures = new ArrayList<>();
    private int turnsLeft;

    PeersBench(PeersPlan plan, TestBed testBed, BenchClient client, Consumer<String> say) {
        this.plan = plan;
        this.testBed = testBed;
        this.client = client;
        this.say = say;
        turnsLeft = plan.turns();
    }

    /** In the order of sizes, connections, contenders. */
    List<BenchRow> run() throws IOException {
        warm();
        List<BenchRow> rows = new ArrayList<>();
        for (long size : plan.sizes()) {
            for (int connections : plan.connections()) {
                rows.addAll(cell(size, connections));
            }
        }
        return rows;
    }

    /** Caches, and both JVMs' compilers, which on one core need longer than it seems. */
    private void warm() throws IOException {
        for (long size : plan.sizes()) {
            for (MeasuredSystem measuredSystem : plan.contenders(size)) {
                say.accept("warming up: " + SizeFormat.text(size) + ", " + measuredSystem.label);
                WarmUp.until(() -> measure(measuredSystem, size, plan.warmConnections(),
                        plan.warmSeconds()), 0, measuredSystem.isRailhead());
            }
        }
    }

    private List<BenchRow> cell(long size, int connections) throws IOException {
        Map<MeasuredSystem, List<RunResult>> rounds = new EnumMap<>(MeasuredSystem.class);
        Set<MeasuredSystem> failed = EnumSet.noneOf(MeasuredSystem.class);
        for (int round = 0; round < plan.rounds(); round++) {
            say.accept(String.format(Locale.ROOT, "%s, %d connections, round %d of %d; %s left",
                    SizeFormat.text(size), connections, round + 1, plan.rounds(), left()));
            for (MeasuredSystem measuredSystem : plan.order(round, size)) {
                RunResult runResult = measure(measuredSystem, size, connections, plan.seconds());
                turnsLeft--;
                if (runResult.problem().isEmpty()) {
                    rounds.computeIfAbsent(measuredSystem, _ -> new ArrayList<>()).add(runResult);
                } else if (failed.add(measuredSystem)) {
                    failures.add("FAILED, and left out: " + measuredSystem.label + " at "
                            + SizeFormat.text(size) + ", " + connections + " connections: "
                            + runResult.problem());
                    say.accept(failures.getLast());
                }
            }
        }
        return plan.contenders(size)
                .stream()
                .filter(measuredSystem -> !failed.contains(measuredSystem))
                .map(measuredSystem -> new BenchRow(measuredSystem, size, connections,
                        rounds.getOrDefault(measuredSystem, List.of())))
                .toList();
    }

    /** What went wrong in a turn: such rows are left out. */
    List<String> failures() {
        return List.copyOf(failures);
    }

    private String left() {
        long seconds = Math.round(plan.secondsOf(turnsLeft));
        return seconds < 90 ? seconds + " s" : (seconds + 30) / 60 + " min";
    }

    private RunResult measure(MeasuredSystem measuredSystem, long size, int connections,
            double seconds)
            throws IOException {
        return client.measure(
                testBed.turn(measuredSystem, size, connections, plan.leadSeconds(), seconds));
    }
}
