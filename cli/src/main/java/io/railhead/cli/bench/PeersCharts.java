package io.railhead.cli.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The report's charts: a panel for each size, at the middle one of the numbers of connections. */
final class PeersCharts {
    private static final String ONE_SIDED = "#1b7f3b";
    private static final String OURS = "#1f6fb2";
    private static final String THEIRS = "#a9a9a9";

    private PeersCharts() {}

    /** By file name. */
    static Map<String, String> of(PeersReport report) {
        List<Integer> all = report.plan().connections();
        int connections = all.get(all.size() / 2);
        String at = ", " + connections + " connections";
        Map<String, String> charts = new LinkedHashMap<>();
        charts.put("peers-throughput.svg", draw("Hits: Gb/s" + at + " (more is better)", report,
                connections, BenchRow::gigabits));
        charts.put("peers-cpu.svg",
                draw("Hits: CPU seconds per GiB, server and client" + at + " (less is better)",
                        report, connections, BenchRow::bothCpu));
        charts.put("peers-latency.svg", draw("Hits: p50, µs" + at + " (less is better)", report,
                connections, BenchRow::p50Us));
        return charts;
    }

    private static String draw(String title, PeersReport report, int connections,
            Function<BenchRow, Spread> figure) {
        return BarChart.draw(title, report.plan()
                .sizes()
                .stream()
                .map(size -> new BarChart.Panel(SizeFormat.text(size), report.rows()
                        .stream()
                        .filter(benchRow -> benchRow.objectBytes() == size
                                && benchRow.connections() == connections)
                        .map(benchRow -> bar(benchRow.contender(), figure.apply(benchRow)))
                        .toList()))
                .toList());
    }

    private static BarChart.Bar bar(MeasuredSystem measuredSystem, Spread spread) {
        String colour = measuredSystem.isOneSided()
                ? ONE_SIDED
                : measuredSystem.isRailhead() ? OURS : THEIRS;
        return new BarChart.Bar(measuredSystem.label, spread.median(), spread.least(),
                spread.most(),
                colour);
    }
}
