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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Railhead beside nginx, Varnish and Traffic Server: hits, in one run, by turns. */
@Command(name = "peers", description = {
        "Read hits from Railhead and from nginx, Varnish and Traffic Server before the same store, by turns.",
        "Installs nothing: benchmarks/peers/install does that on Debian, and who is missing is left out."})
public final class PeersCommand implements Callable<Integer> {
    private static final Path MEMORY = Path.of("/dev/shm");
    private static final long MEMORY_BYTES = 3L << 30;
    private static final long MOST_SIZE = 1 << 30;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--sizes", split = ",", paramLabel = "SIZE", description = "Of the objects (${DEFAULT-VALUE}).", defaultValue = "4KiB,64KiB,1MiB,16MiB,64MiB")
    private List<String> sizes = List.of();

    @Option(names = "--connections", split = ",", paramLabel = "N", description = "How many at a time (${DEFAULT-VALUE}).", defaultValue = "1,16,64")
    private List<Integer> connections = List.of();

    @Option(names = "--rounds", paramLabel = "N", description = "In each of which everybody has a turn (${DEFAULT-VALUE}).", defaultValue = "5")
    private int rounds = 5;

    @Option(names = "--seconds", paramLabel = "S", description = "That are measured of each turn (${DEFAULT-VALUE}).", defaultValue = "1")
    private double seconds = 1;

    @Option(names = "--warm", paramLabel = "S", description = "For which everybody is read at each size before (${DEFAULT-VALUE}).", defaultValue = "2")
    private double warm = 2;

    @Option(names = "--only", split = ",", paramLabel = "WHO", description = "Of ${COMPLETION-CANDIDATES} (all).", completionCandidates = Ids.class)
    private List<String> only = List.of();

    @Option(names = "--pin", negatable = true, defaultValue = "true", fallbackValue = "true", description = "Servers on one half of the cores, the client on the other (default).")
    private boolean pin = true;

    @Option(names = "--out", paramLabel = "DIR", description = "For peers.json, peers.md and the charts (${DEFAULT-VALUE}).", defaultValue = "target/peers")
    private Path out = Path.of("target/peers");

    @Option(names = "--docs", description = "Write into benchmarks/results and its charts, too.")
    private boolean docs;

    @Option(names = "--jfr", description = "Record what the gateway does into gateway.jfr.")
    private boolean jfr;

    /** What {@code --only} takes. */
    static final class Ids extends ArrayList<String> {
        private static final long serialVersionUID = 1;

        Ids() {
            super(MeasuredSystem.caches().map(measuredSystem -> measuredSystem.id).toList());
        }
    }

    @Override
    public Integer call() throws IOException {
        PrintWriter print = spec.commandLine().getOut();
        Map<String, String> software = new LinkedHashMap<>();
        List<String> notes = new ArrayList<>();
        PeersPlan plan = plan(present(software, notes));
        if (plan.turns() == 0) {
            throw misused("nobody of these is measured at any of these sizes");
        }
        notes.forEach(note -> say(note));
        Path home = Installation.here().home();
        Cores cores = pin ? Cores.halves() : Cores.free();
        Machine machine = Machine.here(cores);
        Files.createDirectories(out);
        try (Children children = new Children(folder())) {
            Thread atEnd = new Thread(children::close, "bench-cleanup");
            Runtime.getRuntime().addShutdownHook(atEnd);
            say("starting the store, " + plan.contenders().size() + " contenders and the client");
            TestBed testBed = TestBed
                    .start(new TestBed.Plan(plan.contenders(), plan.sizes(), cores, home,
                            jfr ? out.resolve("gateway.jfr") : null), children);
            PeersBench bench = new PeersBench(plan, testBed, BenchClient.start(cores, children),
                    this::say);
            List<BenchRow> rows = bench.run();
            notes.addAll(bench.failures());
            notes.addAll(ValidityChecks.of(plan, rows, cores.isPinned()));
            write(new PeersReport(BenchCommand.typed(spec), machine, software, plan, notes, rows),
                    home, print);
            return 0;
        } catch (IOException e) {
            throw new IOException("bench peers: " + OneLine.of(e), e);
        }
    }

    private void say(String line) {
        spec.commandLine().getErr().println(line);
        spec.commandLine().getErr().flush();
    }

    /** Caches of files are measured in memory, not on a disk; all the others do not care. */
    private static Path folder() throws IOException {
        boolean roomy = Files.isWritable(MEMORY)
                && Files.getFileStore(MEMORY).getUsableSpace() > MEMORY_BYTES;
        return roomy
                ? Files.createTempDirectory(MEMORY, "railhead-bench")
                : Files.createTempDirectory("railhead-bench");
    }

    private List<MeasuredSystem> present(Map<String, String> software, List<String> notes)
            throws IOException {
        List<MeasuredSystem> present = new ArrayList<>();
        for (MeasuredSystem measuredSystem : chosen()) {
            RivalCache rivalCache = RivalCache.of(measuredSystem);
            String version = rivalCache == null ? "this build" : rivalCache.version();
            if (version == null) {
                notes.add("LEFT OUT: " + measuredSystem.label
                        + " is not installed (benchmarks/peers/install)");
            } else {
                software.put(rivalCache == null ? "Railhead" : rivalCache.name(), version);
                present.add(measuredSystem);
            }
        }
        if (present.isEmpty()) {
            throw new IOException("nobody is left to measure");
        }
        return present;
    }

    private List<MeasuredSystem> chosen() {
        List<MeasuredSystem> all = MeasuredSystem.caches().toList();
        for (String id : only) {
            if (all.stream().noneMatch(measuredSystem -> measuredSystem.id.equals(id))) {
                throw misused("--only: " + id + " is none of " + String.join(", ", new Ids()));
            }
        }
        return all.stream()
                .filter(measuredSystem -> only.isEmpty() || only.contains(measuredSystem.id))
                .toList();
    }

    private PeersPlan plan(List<MeasuredSystem> contenders) {
        if (rounds < 1 || seconds <= 0 || warm < 0 || connections.stream()
                .anyMatch(n -> n < 1
                        || n > 1000)) {
            throw misused("--rounds and --seconds must be > 0, --connections 1 to 1000");
        }
        return new PeersPlan(contenders, sizes.stream().map(this::size).toList(), connections,
                rounds, seconds, warm);
    }

    private long size(String text) {
        try {
            long size = ByteCount.parse(text).bytes();
            if (size < Long.BYTES || size > MOST_SIZE || size % Long.BYTES != 0) {
                throw new IllegalArgumentException(
                        "must be a multiple of 8 bytes up to 1GiB: " + text);
            }
            return size;
        } catch (IllegalArgumentException e) {
            throw misused("--sizes: " + e.getMessage());
        }
    }

    private ParameterException misused(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private void write(PeersReport report, Path home, PrintWriter print) throws IOException {
        String text = PeersMarkdown.of(report);
        Map<String, String> charts = PeersCharts.of(report);
        Files.writeString(out.resolve("peers.json"), Json.pretty(report) + "\n");
        Files.writeString(out.resolve("peers.md"), text);
        write(charts, out);
        if (docs) {
            Path folder = home.resolve("benchmarks/results");
            write(charts, folder);
            String pictures = charts.keySet()
                    .stream()
                    .map(name -> "![" + name.replaceAll("peers-|\\.svg", "") + "](" + name + ")")
                    .collect(Collectors.joining("\n\n"));
            new DocsPage(folder.resolve("2026-11-25.md"), "bench peers")
                    .write(text + "\n" + pictures);
        }
        print.print(text);
        print.println("\nwritten to " + out);
        print.flush();
    }

    private static void write(Map<String, String> charts, Path folder) throws IOException {
        for (Map.Entry<String, String> chart : charts.entrySet()) {
            Files.writeString(folder.resolve(chart.getKey()), chart.getValue());
        }
    }
}
