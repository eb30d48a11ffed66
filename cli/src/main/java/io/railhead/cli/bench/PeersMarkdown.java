package io.railhead.cli.bench;

import java.util.List;
import java.util.Locale;

/** The report as Markdown. */
final class PeersMarkdown {
    private static final String RATIOS = """

            Ours beside the best of the others at the same size and connections: medians of the \
            rounds' own ratios, least to most in brackets. Throughput: more is better. CPU is \
            server and client together: less is better.

            | size | connections | ours | throughput | of | CPU s/GiB | of |
            |---|---|---|---|---|---|---|
            """;
    private static final String OF_COPYING = """

            What goes one-sided beside one thread that only copies the same bytes, on the client's \
            core; medians of the rounds' own ratios of throughput.

            | size | connections | ours | throughput |
            |---|---|---|---|
            """;
    private static final String ROWS = """

            Medians of the rounds; least to most in brackets. CPU is user and system time of all \
            the processes, by the kernel's account, for each GiB of bodies. Over the native \
            channel *connections* are requests under way on one session.

            | size | connections | contender | freshness | authorisation | Gb/s | requests/s \
            | p50 µs | p99 µs | server s/GiB | server + client s/GiB |
            |---|---|---|---|---|---|---|---|---|---|---|
            """;

    private PeersMarkdown() {}

    static String of(PeersReport report) {
        StringBuilder text = new StringBuilder();
        text.append(where(report.command(), report.machine()))
                .append(' ')
                .append(report.plan().rounds())
                .append(" rounds of ")
                .append(report.plan().seconds())
                .append(" s.\n");
        report.software()
                .forEach((name, version) -> text.append("\n- ")
                        .append(name)
                        .append(": ")
                        .append(version));
        text.append('\n');
        report.notes().forEach(note -> text.append("\n- **").append(note).append("**"));
        if (!report.notes().isEmpty()) {
            text.append('\n');
        }
        List<Ratios> ratios = Ratios.of(report.rows());
        if (!ratios.isEmpty()) {
            text.append(RATIOS);
            ratios.forEach(ratio -> text.append(line(ratio)));
        }
        List<Ratios.OfCopying> copies = Ratios.OfCopying.of(report.rows());
        if (!copies.isEmpty()) {
            text.append(OF_COPYING);
            copies.forEach(ratio -> text.append(line(ratio)));
        }
        text.append(ROWS);
        report.rows().forEach(benchRow -> text.append(line(benchRow)));
        return text.toString();
    }

    /** What was typed, when, and on what machine. */
    static String where(String command, Machine machine) {
        return "`" + command + "`, " + machine.date() + ": " + machine.processor() + ", "
                + machine.cores() + " cores, Linux " + machine.kernel() + ", load "
                + machine.load() + " before it began; "
                + (machine.isPinned()
                        ? "servers on one half of the cores, the client on the other"
                        : "nothing pinned")
                + ".";
    }

    private static String line(Ratios ratios) {
        return String.format(Locale.ROOT, "| %s | %d | %s | %s | %s | %s | %s |%n",
                SizeFormat.text(ratios.row().objectBytes()), ratios.row().connections(),
                ratios.row().contender().label, spread(ratios.bandwidth()),
                ratios.bestBandwidth().label, spread(ratios.cpu()), ratios.bestCpu().label);
    }

    private static String line(Ratios.OfCopying ratio) {
        return String.format(Locale.ROOT, "| %s | %d | %s | %s |%n",
                SizeFormat.text(ratio.row().objectBytes()), ratio.row().connections(),
                ratio.row().contender().label, spread(ratio.bandwidth()));
    }

    private static String line(BenchRow benchRow) {
        String p99 = number(benchRow.p99Us().median())
                + (benchRow.leastRequests() < ValidityChecks.LEAST_REQUESTS ? " (few)" : "");
        return String.format(Locale.ROOT,
                "| %s | %d | %s | %s | %s | %s%s | %s | %s | %s | %s | %s |%n",
                SizeFormat.text(benchRow.objectBytes()), benchRow.connections(),
                benchRow.contender().label,
                benchRow.contender().freshness, benchRow.contender().authorization,
                spread(benchRow.gigabits()),
                ValidityChecks.isNoisy(benchRow) ? " ~" : "", number(benchRow.perSecond().median()),
                number(benchRow.p50Us().median()), p99, number(benchRow.serverCpu().median()),
                number(benchRow.bothCpu().median()));
    }

    static String spread(Spread spread) {
        return number(spread.median()) + " (" + number(spread.least()) + " to "
                + number(spread.most()) + ")";
    }

    /** Three digits that count. */
    static String number(double value) {
        int decimals = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
        return String.format(Locale.ROOT, "%,." + decimals + "f", value);
    }
}
