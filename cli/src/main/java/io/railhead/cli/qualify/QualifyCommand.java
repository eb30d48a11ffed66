package io.railhead.cli.qualify;

import io.railhead.cli.OneLine;
import io.railhead.cli.local.Children;
import io.railhead.cli.local.Installation;
import io.railhead.cli.local.Json;
import io.railhead.cli.reading.MinimumDurations;
import io.railhead.client.Via;
import io.railhead.gateway.config.ByteCount;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Tries RDMA and GPU paths on a site's own hardware, without which they were written. */
@Command(name = "qualify", description = {
        "Try RDMA and GPU paths on this machine's own hardware, and check every byte.",
        "Starts a store, a gateway and clients here. Changes nothing and sends nothing anywhere; --json"
                + " writes a report without names and addresses, to send back."}, exitCodeListHeading = "Exit status:%n", exitCodeList = {
                        "0:nothing failed, and bytes went the way that was asked for",
                        "1:something failed, or no byte went that way",
                        "2:misused"})
public final class QualifyCommand implements Callable<Integer> {
    private static final long LEAST_BYTES = 1 << 20;
    private static final long MOST_BYTES = 1L << 30;
    private static final int MOST_PROCESSES = 64;
    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--via", paramLabel = "loopback|verbs", description = "How bytes are moved one-sided (default: verbs where there is a usable RDMA port, else loopback).")
    private @Nullable Via via;

    @Option(names = "--bytes", paramLabel = "SIZE", description = "Of generated objects, 1MiB to 1GiB (${DEFAULT-VALUE}).", defaultValue = "64MiB")
    private String bytes = "64MiB";

    @Option(names = "--processes", paramLabel = "N", description = "Client processes at the same time (${DEFAULT-VALUE}).", defaultValue = "4")
    private int processes = 4;

    @Option(names = "--seconds", paramLabel = "S", description = "For which each way is read at least, and as long before to warm up (${DEFAULT-VALUE}).", defaultValue = "4")
    private double seconds = 4;

    @Option(names = "--device", paramLabel = "NAME", description = "The adapter of the trial dc, such as mlx5_0 (default: the first that works).")
    private @Nullable String device;

    @Option(names = "--python", paramLabel = "PROGRAM", description = "A Python that has the packages railhead and torch, for the trial gpu (${DEFAULT-VALUE}).", defaultValue = "python3")
    private String python = "python3";

    @Option(names = "--json", paramLabel = "FILE", description = "Write the report there.")
    private @Nullable Path json;

    @Override
    public Integer call() throws IOException {
        Qualification.Plan plan = plan();
        PrintWriter out = spec.commandLine().getOut();
        try (Children children = new Children(Files.createTempDirectory("railhead-qualify"))) {
            Runtime.getRuntime()
                    .addShutdownHook(new Thread(children::close, "qualify-cleanup"));
            Qualification qualification = new Qualification(plan, children, line -> {
                out.println(line);
                out.flush();
            });
            Redaction redaction = redaction(children.folder());
            List<Trial> trials = qualification.run()
                    .stream()
                    .map(trial -> trial.redacted(redaction))
                    .toList();
            QualifyReport qualifyReport = QualifyReport.of(List.of(spec.root().version()),
                    plan.via().name().toLowerCase(Locale.ROOT), Hardware.read(Path.of("/")),
                    trials, qualification.rows());
            print(out, qualifyReport);
            if (json != null) {
                Files.writeString(json, Json.pretty(qualifyReport) + "\n");
            }
            return qualifyReport.qualified() ? 0 : 1;
        } catch (IOException e) {
            throw new IOException("qualify: " + OneLine.of(e), e);
        }
    }

    private Qualification.Plan plan() {
        if (processes < 1 || processes > MOST_PROCESSES || !(seconds > 0)) {
            throw misused("--processes must be 1 to " + MOST_PROCESSES + ", and --seconds > 0");
        }
        return new Qualification.Plan(fabric(), size(), new MinimumDurations(2, seconds), processes,
                device,
                python, Installation.here().store());
    }

    private Via fabric() {
        if (via == null) {
            return Qualification.ports().isEmpty() ? Via.LOOPBACK : Via.VERBS;
        }
        if (via != Via.LOOPBACK && via != Via.VERBS) {
            throw misused("--via: loopback or verbs, not " + via);
        }
        return via;
    }

    private long size() {
        try {
            long size = ByteCount.parse(bytes).bytes();
            if (size >= LEAST_BYTES && size <= MOST_BYTES) {
                return size;
            }
            throw new IllegalArgumentException("must be 1MiB to 1GiB: " + bytes);
        } catch (IllegalArgumentException e) {
            throw misused("--bytes: " + e.getMessage());
        }
    }

    private ParameterException misused(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private static Redaction redaction(Path folder) throws IOException {
        return new Redaction(List.of(Files.readString(HOST_NAME).strip(),
                System.getProperty("user.name"), System.getProperty("user.home"),
                folder.toString(), Installation.here().home().toString()));
    }

    private static void print(PrintWriter out, QualifyReport qualifyReport) {
        out.println();
        for (Trial trial : qualifyReport.trials()) {
            out.printf("%-8s %-10s %s%n", trial.outcome().words(), trial.name(), trial.found());
            trial.figures()
                    .forEach((name, figure) -> out.printf(Locale.ROOT, "%20s%s: %.1f%n",
                            "", name, figure));
        }
        out.println();
        for (Trial trial : qualifyReport.trials()) {
            if (trial.hasPassed()) {
                out.println("Shown by " + trial.name() + ": " + trial.proves());
            }
        }
        out.println();
        out.println(qualifyReport.qualified()
                ? "Nothing failed. docs/qualify.md says what this proves, and where to send the report."
                : "This machine did not qualify: see what failed, or was not run, above.");
        out.flush();
    }
}
