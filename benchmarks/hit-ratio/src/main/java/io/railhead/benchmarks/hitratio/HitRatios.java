package io.railhead.benchmarks.hitratio;

import com.github.benmanes.caffeine.cache.simulator.BasicSettings;
import com.github.benmanes.caffeine.cache.simulator.policy.AccessEvent;
import com.github.benmanes.caffeine.cache.simulator.policy.Policy;
import com.github.benmanes.caffeine.cache.simulator.policy.Registry;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Reads traces through the cache and through the simulator's policies. */
@Command(name = "hit-ratios", mixinStandardHelpOptions = true, description = {
        "Compares the cache's hit ratio with that of other policies with as many pages."})
@SuppressWarnings("NullAway.Init") // picocli sets the spec
final class HitRatios implements Callable<Integer> {
    /** The column's title, and the simulator's name. */
    private static final Map<String, String> ONLINE = online();
    private static final String BOUND = "opt.Clairvoyant";
    private static final double GOAL_POINTS = 2;
    private static final double COLLAPSE_POINTS = 10;

    @Spec
    private CommandSpec spec;

    @Option(names = "--only", paramLabel = "TRACE", description = "Only traces whose names contain this.", defaultValue = "")
    private String only;

    @Option(names = "--reads", paramLabel = "N", description = "Only so many of a trace's reads, from its begin.", defaultValue = "2147483647")
    private int most;

    @Option(names = "--disk", paramLabel = "TIMES", description = "With a disk of so many times the memory, beside other ways to choose what is written to it.", defaultValue = "0")
    private int disk;

    private record Ratios(Trace trace, int reads, int pages, double ours,
            Map<String, Double> others, double bound) {

        double best() {
            return others.values().stream().mapToDouble(Double::doubleValue).max().orElseThrow();
        }

        double behind() {
            return best() - ours;
        }
    }

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new HitRatios()).execute(arguments));
    }

    private static Map<String, String> online() {
        Map<String, String> names = new LinkedHashMap<>();
        names.put("LRU", "linked.Lru");
        names.put("S3-FIFO", "two-queue.S3Fifo");
        names.put("ARC", "adaptive.Arc");
        names.put("W-TinyLFU, window 1 %", "sketch.WindowTinyLfu");
        names.put("W-TinyLFU, hill climber", "sketch.HillClimberWindowTinyLfu");
        return names;
    }

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        if (disk > 0) {
            out.println(DiskRatios.title());
            traces().forEach(trace -> {
                out.println(DiskRatios.line(trace, most, disk));
                out.flush();
            });
            return 0;
        }
        List<Ratios> all = new ArrayList<>();
        for (Trace trace : traces()) {
            out.println("reading " + trace.name());
            out.flush();
            all.add(read(trace));
        }
        out.println(table(all));
        out.flush();
        return 0;
    }

    private List<Trace> traces() {
        return Stream.concat(Trace.bundled().stream(), Workloads.all().stream())
                .filter(trace -> trace.name().contains(only))
                .toList();
    }

    private Ratios read(Trace trace) {
        int pages = RealCache.capacity(trace.cachePages());
        long[] reads = Arrays.stream(trace.pages().get()).limit(most).toArray();
        long hits = 0;
        try (RealCache cache = new RealCache(trace.cachePages())) {
            for (long page : reads) {
                hits += cache.read(page) ? 1 : 0;
            }
        }
        Map<String, Double> others = new LinkedHashMap<>();
        ONLINE.forEach((title, name) -> others.put(title, simulate(name, pages, reads)));
        return new Ratios(trace, reads.length, pages, 100.0 * hits / reads.length, others,
                simulate(BOUND, pages, reads));
    }

    private static double simulate(String policy, int pages, long[] reads) {
        Config config = ConfigFactory.parseString("""
                maximum-size = %d
                policies = [ "%s" ]
                admission = [ Always ]
                hill-climber-window-tiny-lfu.strategy = [ simple ]
                """.formatted(pages, policy))
                .withFallback(ConfigFactory.load().getConfig("caffeine.simulator"));
        Policy simulated = new Registry(new BasicSettings(config), Set.of()).policies()
                .iterator()
                .next();
        for (long page : reads) {
            simulated.record(AccessEvent.forKey(page));
        }
        simulated.finished();
        return 100 * simulated.stats().hitRate();
    }

    private static String table(List<Ratios> all) {
        StringBuilder table = new StringBuilder("| trace | reads | pages held | Railhead |");
        ONLINE.keySet().forEach(title -> table.append(' ').append(title).append(" |"));
        table.append(" behind the best | best possible |\n|")
                .append("---|".repeat(
                        ONLINE.size() + 6))
                .append('\n');
        for (Ratios ratios : all) {
            table.append(String.format(Locale.ROOT, "| %s, %s | %,d | %,d | %.2f |",
                    ratios.trace.name(), ratios.trace.source(), ratios.reads, ratios.pages,
                    ratios.ours));
            ratios.others.values()
                    .forEach(ratio -> table.append(String.format(Locale.ROOT, " %.2f |", ratio)));
            table.append(String.format(Locale.ROOT, " %.2f | %.2f |%n", ratios.behind(),
                    ratios.bound));
        }
        long within = all.stream().filter(ratios -> ratios.behind() <= GOAL_POINTS).count();
        long collapsed = all.stream().filter(ratios -> ratios.behind() > COLLAPSE_POINTS).count();
        return table.append(String.format(Locale.ROOT, """

                Hit ratios in percent. Within %.0f points of the best policy that does not know the\
                 future: %d of %d traces; more than %.0f behind it: %d.
                """, GOAL_POINTS, within, all.size(), COLLAPSE_POINTS, collapsed)).toString();
    }
}
