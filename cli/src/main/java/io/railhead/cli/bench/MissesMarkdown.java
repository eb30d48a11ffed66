package io.railhead.cli.bench;

import java.util.Locale;

/** The report as Markdown. */
final class MissesMarkdown {
    private static final String GOALS = """

            Medians of the rounds' own ratios (or seconds); least to most in brackets.

            | what | measured | goal | |
            |---|---|---|---|
            """;
    private static final String ROWS = """

            Medians of the rounds; least to most in brackets. CPU is user and system time of all \
            the processes, by the kernel's account, for each GiB of bodies.

            | what | object | requests at a time | who | freshness | authorisation | Gb/s \
            | seconds | gateway s/GiB | client s/GiB |
            |---|---|---|---|---|---|---|---|---|---|
            """;

    private MissesMarkdown() {}

    static String of(MissesReport report) {
        StringBuilder text = new StringBuilder();
        MissesPlan plan = report.plan();
        text.append(PeersMarkdown.where(report.command(), report.machine()))
                .append(String.format(Locale.ROOT,
                        " %d rounds. The link to the store lets %s Gb/s pass each way, and each"
                                + " answer comes %s ms later.%n",
                        plan.rounds(), PeersMarkdown.number(plan.bitsPerSecond() / 1e9),
                        PeersMarkdown.number(plan.latencyMillis())));
        if (!report.notes().isEmpty()) {
            text.append('\n');
            report.notes().forEach(note -> text.append("- **").append(note).append("**\n"));
        }
        text.append(GOALS);
        report.goals().forEach(goal -> text.append(line(goal)));
        if (!report.rows().isEmpty()) {
            text.append(ROWS);
            report.rows().forEach(row -> text.append(line(row)));
        }
        return text.toString();
    }

    private static String line(Goal goal) {
        return String.format(Locale.ROOT, "| %s | %s | %s %s | %s |%n", goal.what(),
                PeersMarkdown.spread(goal.measured()), goal.moreIsBetter() ? "≥" : "≤",
                PeersMarkdown.number(goal.limit()), goal.met() ? "met" : "missed");
    }

    private static String line(MissRow miss) {
        BenchRow benchRow = miss.row();
        return String.format(Locale.ROOT,
                "| %s | %s | %d | %s | %s | %s | %s%s | %s | %s | %s |%n", miss.of().label,
                SizeFormat.text(benchRow.objectBytes()), benchRow.connections(), miss.what(),
                benchRow.contender().freshness, benchRow.contender().authorization,
                PeersMarkdown.spread(benchRow.gigabits()),
                ValidityChecks.isNoisy(benchRow) ? " ~" : "",
                PeersMarkdown.number(benchRow.seconds().median()),
                benchRow.contender() == MeasuredSystem.DIRECT
                        ? "–"
                        : PeersMarkdown.number(benchRow.serverCpu().median()),
                PeersMarkdown.number(benchRow.clientCpu().median()));
    }
}
