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
    private final Site site;
    private final BenchClient client;
    private final Consumer<String> say;
    private final List<String> failures = new ArrayList<>();
    private int turnsLeft;

    PeersBench(PeersPlan plan, Site site, BenchClient client, Consumer<String> say) {
        this.plan = plan;
        this.site = site;
        this.client = client;
        this.say = say;
        turnsLeft = plan.turns();
    }

    /** In the order of sizes, connections, contenders. */
    List<Row> run() throws IOException {
        warm();
        List<Row> rows = new ArrayList<>();
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
            for (Contender contender : plan.contenders(size)) {
                say.accept("warming up: " + Sizes.text(size) + ", " + contender.label);
                Warming.until(() -> measure(contender, size, plan.warmConnections(),
                        plan.warmSeconds()), 0, contender.isRailhead());
            }
        }
    }

    private List<Row> cell(long size, int connections) throws IOException {
        Map<Contender, List<Measured>> rounds = new EnumMap<>(Contender.class);
        Set<Contender> failed = EnumSet.noneOf(Contender.class);
        for (int round = 0; round < plan.rounds(); round++) {
            say.accept(String.format(Locale.ROOT, "%s, %d connections, round %d of %d; %s left",
                    Sizes.text(size), connections, round + 1, plan.rounds(), left()));
            for (Contender contender : plan.order(round, size)) {
                Measured measured = measure(contender, size, connections, plan.seconds());
                turnsLeft--;
                if (measured.problem().isEmpty()) {
                    rounds.computeIfAbsent(contender, _ -> new ArrayList<>()).add(measured);
                } else if (failed.add(contender)) {
                    failures.add("FAILED, and left out: " + contender.label + " at "
                            + Sizes.text(size) + ", " + connections + " connections: "
                            + measured.problem());
                    say.accept(failures.getLast());
                }
            }
        }
        return plan.contenders(size)
                .stream()
                .filter(contender -> !failed.contains(contender))
                .map(contender -> new Row(contender, size, connections,
                        rounds.getOrDefault(contender, List.of())))
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

    private Measured measure(Contender contender, long size, int connections, double seconds)
            throws IOException {
        return client.measure(
                site.turn(contender, size, connections, plan.leadSeconds(), seconds));
    }
}
