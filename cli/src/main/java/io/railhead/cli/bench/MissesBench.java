package io.railhead.cli.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;

/** Rounds in which each contender gets its turn, case by case. */
final class MissesBench {
    private static final double MOST_LATE = 1.3;
    private static final double MOST_START_SECONDS = 3;
    private static final double MOST_CPU = 0.5;
    private static final double MOST_ASKED = 1.005;
    private static final double LEAST_OF_RATE = 0.85;
    private static final double TICK_SECONDS = 0.01;

    private final MissesPlan plan;
    private final MissSite site;
    private final BenchClient client;
    private final Consumer<String> say;
    private final List<MissRow> rows = new ArrayList<>();
    private final List<Goal> goals = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    MissesBench(MissesPlan plan, MissSite site, BenchClient client, Consumer<String> say) {
        this.plan = plan;
        this.site = site;
        this.client = client;
        this.say = say;
    }

    void run() throws IOException {
        for (long bytes : plan.objects()) {
            require(client.measure(site.publishing(bytes)));
        }
        for (MissCase what : plan.cases()) {
            try {
                switch (what) {
                    case START -> starts();
                    case READERS -> readers();
                    default -> beside(what);
                }
            } catch (IOException e) {
                notes.add("FAILED, and left out: " + what.label + ": " + e.getMessage());
                say.accept(notes.getLast());
            }
        }
    }

    List<MissRow> rows() {
        return List.copyOf(rows);
    }

    List<Goal> goals() {
        return List.copyOf(goals);
    }

    List<String> notes() {
        return List.copyOf(notes);
    }

    private void beside(MissCase what) throws IOException {
        Map<MeasuredSystem, List<RunResult>> rounds = new EnumMap<>(MeasuredSystem.class);
        for (MeasuredSystem measuredSystem : what.contenders()) {
            tell(what, 0, measuredSystem.label);
            WarmUp.until(() -> turn(measuredSystem, what), plan.warmSeconds(),
                    measuredSystem.isRailhead());
        }
        for (int round = 1; round <= plan.rounds(); round++) {
            String expected = "";
            for (MeasuredSystem measuredSystem : MissesPlan.order(what, round)) {
                tell(what, round, measuredSystem.label);
                rounds.computeIfAbsent(measuredSystem, _ -> new ArrayList<>())
                        .add(turn(measuredSystem, what));
                expected = requireWritten(what, measuredSystem, expected);
            }
        }
        rounds.forEach((measuredSystem, measured) -> add(what, measuredSystem.label, measuredSystem,
                measured));
        compare(what, rounds);
    }

    private void tell(MissCase what, int round, String who) {
        say.accept(String.format(Locale.ROOT, "%s, %s: %s", what.label,
                round == 0 ? "warming up" : "round " + round + " of " + plan.rounds(), who));
    }

    private void add(MissCase what, String label, MeasuredSystem measuredSystem,
            List<RunResult> measured) {
        rows.add(new MissRow(what, label,
                new BenchRow(measuredSystem, what.objectBytes(plan.bytes()),
                        what.connections(plan.readers()), measured)));
    }

    private RunResult turn(MeasuredSystem measuredSystem, MissCase what) throws IOException {
        if (what == MissCase.PARTS) {
            String upload = site.beginUpload();
            RunResult runResult = client.measure(site.turn(measuredSystem, what, upload));
            site.abortUpload(upload);
            return require(runResult);
        }
        site.forget();
        return require(client.measure(site.turn(measuredSystem, what, "")));
    }

    private static RunResult require(RunResult runResult) throws IOException {
        if (!runResult.problem().isEmpty()) {
            throw new IOException(runResult.problem());
        }
        return runResult;
    }

    /** What was written must be the same bytes, whoever wrote them. */
    private String requireWritten(MissCase what, MeasuredSystem measuredSystem, String expected)
            throws IOException {
        if (!what.writes() || what == MissCase.PARTS) {
            return expected;
        }
        String etag = site.etag();
        if (!expected.isEmpty() && !etag.equals(expected)) {
            throw new IOException(measuredSystem.label + " wrote " + etag + ", not " + expected);
        }
        return etag;
    }

    private void compare(MissCase what, Map<MeasuredSystem, List<RunResult>> rounds) {
        List<RunResult> direct = rounds.getOrDefault(MeasuredSystem.DIRECT, List.of());
        List<RunResult> http = rounds.getOrDefault(MeasuredSystem.RAILHEAD_SIGNED, List.of());
        goals.add(Goal.atLeast(what.goal, what.label + ": throughput, of the store's own",
                ratio(http, direct, BenchRow::gigabits)));
        List<RunResult> token = rounds.get(MeasuredSystem.RAILHEAD_TOKEN);
        if (token != null) {
            goals.add(Goal.atLeast(what.goal,
                    what.label + " by token: throughput, of the store's own",
                    ratio(token, direct, BenchRow::gigabits)));
            goals.add(Goal.atMost(MOST_CPU, what.label + " by token: client's CPU, of HTTP's",
                    ratio(token, http, MissesBench::clientCpu)));
        }
        double reached = Spread.of(direct.stream().map(BenchRow::gigabits).toList()).median();
        boolean isBulk = what.goal < 1;
        if (isBulk && reached < LEAST_OF_RATE * plan.bitsPerSecond() / 1e9) {
            notes.add(String.format(Locale.ROOT,
                    "%s: the store itself reached %.2f Gb/s, so not the link but the machine was"
                            + " the limit",
                    what.label, reached));
        }
    }

    /** The kernel counts in ticks: none of them is no proof of none. */
    private static double clientCpu(RunResult round) {
        return Math.max(TICK_SECONDS, round.clientCpu());
    }

    private static Spread ratio(List<RunResult> ours, List<RunResult> theirs,
            ToDoubleFunction<RunResult> figure) {
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < ours.size(); round++) {
            ratios.add(figure.applyAsDouble(ours.get(round))
                    / figure.applyAsDouble(theirs.get(round)));
        }
        return Spread.of(ratios);
    }

    private void readers() throws IOException {
        MissCase what = MissCase.READERS;
        List<RunResult> cold = new ArrayList<>();
        List<RunResult> held = new ArrayList<>();
        List<Double> asked = new ArrayList<>();
        tell(what, 0, "cold");
        WarmUp.until(() -> {
            site.forget();
            return client(what);
        }, plan.warmSeconds(), true);
        for (int round = 1; round <= plan.rounds(); round++) {
            tell(what, round, "cold, then held");
            site.forget();
            ThrottledProxy.Passed before = site.passed();
            RunResult first = client(what);
            ThrottledProxy.Passed passed = site.passed().since(before);
            RunResult second = client(what);
            cold.add(first);
            held.add(second);
            asked.add((double) passed.down() / what.objectBytes(plan.bytes()));
        }
        MeasuredSystem railhead = MeasuredSystem.RAILHEAD_SIGNED;
        add(what, railhead.label + ", cold", railhead, cold);
        add(what, railhead.label + ", held", railhead, held);
        goals.add(Goal.atMost(MOST_ASKED, plan.readers()
                + " readers: bytes from the store, heads included, of the object's",
                Spread.of(asked)));
        goals.add(Goal.atMost(MOST_LATE, plan.readers()
                + " readers: the last one's time, of the same with the object held",
                ratio(cold, held, RunResult::seconds)));
    }

    private RunResult client(MissCase what) throws IOException {
        return require(client.measure(site.turn(MeasuredSystem.RAILHEAD_SIGNED, what, "")));
    }

    private void starts() throws IOException {
        Map<Long, List<Double>> seconds = new LinkedHashMap<>();
        for (int round = 1; round <= plan.rounds(); round++) {
            for (long cache : plan.caches()) {
                tell(MissCase.START, round, "a cache of " + SizeFormat.text(cache));
                seconds.computeIfAbsent(cache, _ -> new ArrayList<>())
                        .add(site.startSeconds(cache));
            }
        }
        seconds.forEach((cache, times) -> goals.add(Goal.atMost(MOST_START_SECONDS,
                "seconds from exec to the first answer, cache of " + SizeFormat.text(cache),
                Spread.of(times))));
    }
}
