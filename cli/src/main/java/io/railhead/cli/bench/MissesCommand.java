package io.railhead.cli.bench;

import io.railhead.cli.OneLine;
import io.railhead.cli.local.Children;
import io.railhead.cli.local.Installation;
import io.railhead.cli.local.Json;
import io.railhead.gateway.config.ByteCount;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Railhead beside its own store, behind one narrow link: misses, writes and starts. */
@Command(name = "misses", description = {
        "Read and write through Railhead what it does not hold, and the same directly, by turns.",
        "The store is behind a link of a fixed rate and latency, in both directions. How fast a gateway starts is measured, too."})
public final class MissesCommand implements Callable<Integer> {
    private static final long LEAST_BYTES = 1 << 20;
    private static final long MOST_BYTES = 1 << 30;
    private static final double LEAST_RATE = 0.001;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--only", split = ",", paramLabel = "WHAT", description = "Of ${COMPLETION-CANDIDATES} (all).", completionCandidates = Ids.class)
    private List<String> only = List.of();

    @Option(names = "--rounds", paramLabel = "N", description = "In each of which everybody has a turn (${DEFAULT-VALUE}).", defaultValue = "5")
    private int rounds = 5;

    @Option(names = "--warm", paramLabel = "SECONDS", description = "Of turns at least before each look whether they still become cheaper (${DEFAULT-VALUE}).", defaultValue = "2")
    private double warm = 2;

    @Option(names = "--bytes", paramLabel = "SIZE", description = "Of the large object; the others are parts of it (${DEFAULT-VALUE}).", defaultValue = "1GiB")
    private String bytes = "1GiB";

    @Option(names = "--rate", paramLabel = "GBITS", description = "Gb/s that the link lets pass each way (${DEFAULT-VALUE}).", defaultValue = "2")
    private double rate = 2;

    @Option(names = "--latency", paramLabel = "MS", description = "Milliseconds before each answer of the store (${DEFAULT-VALUE}).", defaultValue = "5")
    private double latency = 5;

    @Option(names = "--readers", paramLabel = "N", description = "Of one cold object at a time (${DEFAULT-VALUE}).", defaultValue = "200")
    private int readers = 200;

    @Option(names = "--caches", split = ",", paramLabel = "SIZE", description = "Whose start is measured (${DEFAULT-VALUE}).", defaultValue = "64MiB,8GiB")
    private List<String> caches = List.of();

    @Option(names = "--pin", negatable = true, defaultValue = "true", fallbackValue = "true", description = "The gateway on one half of the cores, the client on the other (default).")
    private boolean pin = true;

    @Option(names = "--out", paramLabel = "DIR", description = "For misses.json and misses.md (${DEFAULT-VALUE}).", defaultValue = "target/misses")
    private Path out = Path.of("target/misses");

    @Option(names = "--docs", description = "Write into benchmarks/results, too.")
    private boolean docs;

    @Option(names = "--jfr", description = "Record what the gateway does into gateway.jfr.")
    private boolean jfr;

    /** What {@code --only} takes. */
    static final class Ids extends ArrayList<String> {
        private static final long serialVersionUID = 1;

        Ids() {
            super(Arrays.stream(MissCase.values()).map(what -> what.id).toList());
        }
    }

    @Override
    public Integer call() throws IOException {
        MissesPlan plan = plan();
        Path home = Installation.here().home();
        Cores cores = pin ? Cores.halves() : Cores.free();
        Machine machine = Machine.here(cores);
        Files.createDirectories(out);
        try (Children children = new Children(Files.createTempDirectory("railhead-bench"))) {
            Thread atEnd = new Thread(children::close, "bench-cleanup");
            Runtime.getRuntime().addShutdownHook(atEnd);
            say("starting the store, the link, the gateway and the client");
            try (MissSite site = MissSite.start(plan, cores,
                    jfr ? out.resolve("gateway.jfr") : null, children)) {
                MissesBench bench = new MissesBench(plan, site,
                        BenchClient.start(cores, children), this::say);
                bench.run();
                write(new MissesReport(BenchCommand.typed(spec), machine, plan,
                        notes(plan, bench, cores), bench.goals(), bench.rows()), home);
            }
            return 0;
        } catch (IOException e) {
            throw new IOException("bench misses: " + OneLine.of(e), e);
        }
    }

    private static List<String> notes(MissesPlan plan, MissesBench bench, Cores cores) {
        List<String> notes = new ArrayList<>(bench.notes());
        if (ValidityChecks.areFew(plan.rounds())) {
            notes.add("TOO SHORT to conclude anything from: " + plan.rounds() + " rounds");
        }
        if (!bench.rows().isEmpty()) {
            notes.addAll(
                    ValidityChecks.ofMachine(bench.rows().stream().map(MissRow::row).toList()));
        }
        if (!cores.isPinned()) {
            notes.add("Nothing was pinned: gateway and client took each other's time.");
        }
        return notes;
    }

    private void say(String line) {
        spec.commandLine().getErr().println(line);
        spec.commandLine().getErr().flush();
    }

    private MissesPlan plan() {
        if (rounds < 1 || rate < LEAST_RATE || latency < 0 || warm < 0 || readers < 1
                || readers > 1000) {
            throw misused("--rounds must be > 0, --rate >= " + LEAST_RATE
                    + ", --latency and --warm >= 0, --readers 1 to 1000");
        }
        long size = size("--bytes", bytes);
        if (size < LEAST_BYTES || size > MOST_BYTES || size % LEAST_BYTES != 0) {
            throw misused("--bytes must be a multiple of 1MiB up to 1GiB: " + bytes);
        }
        return new MissesPlan(chosen(), rounds, warm, size, readers, Math.round(rate * 1e9),
                latency,
                caches.stream().map(cache -> size("--caches", cache)).toList());
    }

    private List<MissCase> chosen() {
        List<MissCase> all = List.of(MissCase.values());
        for (String id : only) {
            if (all.stream().noneMatch(what -> what.id.equals(id))) {
                throw misused("--only: " + id + " is none of " + String.join(", ", new Ids()));
            }
        }
        return all.stream().filter(what -> only.isEmpty() || only.contains(what.id)).toList();
    }

    private long size(String option, String text) {
        try {
            return ByteCount.parse(text).bytes();
        } catch (IllegalArgumentException e) {
            throw misused(option + ": " + e.getMessage());
        }
    }

    private ParameterException misused(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private void write(MissesReport report, Path home) throws IOException {
        String text = MissesMarkdown.of(report);
        Files.writeString(out.resolve("misses.json"), Json.pretty(report) + "\n");
        Files.writeString(out.resolve("misses.md"), text);
        if (docs) {
            new DocsPage(home.resolve("benchmarks/results/2026-11-25.md"), "bench misses")
                    .write(text);
        }
        PrintWriter print = spec.commandLine().getOut();
        print.print(text);
        print.println("\nwritten to " + out);
        print.flush();
    }
}
