package io.railhead.cli.reading;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/** Prints the rows for people: a table, bars, and the limits of the figures. */
public final class Table {
    private static final int BAR = 40;
    private static final String LOOPBACK = """
            One-sided delivery went over loopback: shared memory, not a network. With an RDMA NIC
            the adapter, not the gateway's processor, would move the bytes: the gateway's copy goes
            away, and the network's speed and latency take the place of memory's.
            """;
    private static final String VERBS = """
            One-sided delivery went over verbs: a soft-RoCE device spends the kernel's time on it,
            an adapter its own.
            """;

    private Table() {}

    /** @param where one line about the processes that share a machine */
    public static void print(PrintWriter out, List<ReadingRow> rows, String where) {
        out.printf("%n%-16s %-10s %10s %11s %11s %13s %12s %14s%n", "path", "freshness", "MiB/s",
                "p50 us", "p99 us", "gateway s/GiB", "client s/GiB", "requests/pass");
        for (ReadingRow readingRow : rows) {
            out.printf(Locale.ROOT, "%-16s %-10s %10.1f %11.1f %11.1f %13s %12.3f %14s%n",
                    readingRow.path(), readingRow.freshness(), readingRow.mibPerS(),
                    readingRow.p50Us(), readingRow.p99Us(),
                    readingRow.is(ReadingRow.Path.DIRECT) || readingRow.gatewayCpuSPerGib() == null
                            ? "-"
                            : String.format(Locale.ROOT, "%.3f", readingRow.gatewayCpuSPerGib()),
                    readingRow.clientCpuSPerGib(),
                    readingRow.requestsPerPass() == null
                            ? "-"
                            : String.format(Locale.ROOT, "%.1f", readingRow.requestsPerPass()));
        }
        out.println();
        double most = rows.stream().mapToDouble(ReadingRow::mibPerS).max().orElse(1);
        for (ReadingRow readingRow : rows) {
            out.printf(Locale.ROOT, "%-16s %s %.0f MiB/s%n", readingRow.path(),
                    bar(readingRow.mibPerS() / most),
                    readingRow.mibPerS());
        }
        out.print(
                """

                        The rdma rows are one-sided delivery that is asked for by a token in HTTP, the
                        native rows the same asked for on a channel beside it. s/GiB is processor time per
                        GiB; a pass reads all objects once, a part of 8 MiB at a time, and its requests are
                        those that reached the store. The cold row begins with an empty cache in a gateway
                        that has warmed up; just-started is the very first pass. The disk-hit row is of a
                        gateway with memory for a fifth of the data, but 64 MiB at least, and a disk for
                        all of it. p50 and p99 are per object. Every byte was checked by SHA-256 in the
                        client, after each pass; all times are of the passes alone.
                        """);
        out.println(where);
        out.print(rows.stream().anyMatch(readingRow -> readingRow.fabric().equals("verbs"))
                ? VERBS
                : LOOPBACK);
        out.flush();
    }

    static String bar(double share) {
        int full = Math.max(1, (int) Math.round(share * BAR));
        return "█".repeat(full);
    }
}
