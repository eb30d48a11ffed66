package io.railhead.cli.doctor;

import io.railhead.cli.ProgressLine;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Reports faults of this machine and its surroundings. */
@Command(name = "doctor", description = {
        "Say what a gateway lacks on this machine and around it, and how to mend it.",
        "Looks at the machine, the configuration's files, disks and ports, and each store: name, connection,"
                + " TLS, clock, credentials, buckets. Changes nothing, and writes to no store. Beside a file of"
                + " the disk tier it writes a scratch file of 64 MiB for a moment, to tell its speed."}, exitCodeListHeading = "Exit status:%n", exitCodeList = {
                        "0:nothing fails; there may be things to look at",
                        "1:something fails that a gateway needs",
                        "2:misused"})
public final class DoctorCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--config", paramLabel = "FILE", description = "Configuration to hold the machine against; default: /etc/railhead/railhead.yaml if there is one.")
    private @Nullable Path config;

    @Option(names = "--bucket", paramLabel = "BACKEND=BUCKET", description = "A bucket to look at, beside probe_bucket; may be given again.")
    private List<String> buckets = new ArrayList<>();

    @Option(names = "--dc-selftest", description = "Only move bytes over the dc fabric, from a port of an mlx5 adapter to itself, and compare them.")
    private boolean dcSelfTest;

    @Option(names = "--device", paramLabel = "NAME", description = "The adapter of --dc-selftest, such as mlx5_0; default: rdma.dc.device, or the first that works.")
    private @Nullable String device;

    @Option(names = "--json", description = "One JSON document for programs, and nothing else.")
    private boolean json;

    @Option(names = "--root", hidden = true, paramLabel = "DIR", description = "Where /proc, /sys, /dev and /etc lie.")
    private Path root = Path.of("/");

    @Override
    public Integer call() {
        Map<String, List<String>> named = buckets();
        if (device != null && !dcSelfTest) {
            throw new ParameterException(spec.commandLine(), "--device belongs to --dc-selftest");
        }
        if (dcSelfTest) {
            return report(new DoctorReport(DcTrial.on(Host.below(root)).run(config, device)));
        }
        PrintWriter err = spec.commandLine().getErr();
        Doctor doctor = new Doctor(Host.below(root), new Parts(err, ProgressLine.isTerminal()));
        DoctorReport report;
        try {
            report = new DoctorReport(doctor.examine(config, named));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--bucket: " + e.getMessage(), e);
        }
        return report(report);
    }

    private int report(DoctorReport report) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(report.toJson());
            out.flush();
        } else {
            report.print(out, Ansi.AUTO);
        }
        return report.isFine() ? 0 : 1;
    }

    private Map<String, List<String>> buckets() {
        Map<String, List<String>> byBackend = new LinkedHashMap<>();
        for (String each : buckets) {
            String[] sides = each.split("=", 2);
            if (sides.length < 2 || sides[0].isEmpty() || sides[1].isEmpty()) {
                throw new ParameterException(spec.commandLine(),
                        "--bucket: '" + each + "' is not BACKEND=BUCKET");
            }
            byBackend.computeIfAbsent(sides[0], backend -> new ArrayList<>()).add(sides[1]);
        }
        return byBackend;
    }
}
