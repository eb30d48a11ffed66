package io.railhead.cli.qualify;

import io.railhead.cli.doctor.Doctor;
import io.railhead.cli.doctor.Finding;
import io.railhead.cli.local.Children;
import io.railhead.cli.qualify.Attempt.NotRunException;
import io.railhead.cli.qualify.Attempt.Seen;
import io.railhead.cli.reading.MinimumDurations;
import io.railhead.cli.reading.ReadingRow;
import io.railhead.client.Via;
import io.railhead.gateway.config.Adapters;
import io.railhead.gateway.config.MachineNeeds;
import io.railhead.os.devices.GidChoice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs the trials one after the other; a failed one does not stop the others. One thread. */
final class Qualification {
    static final String READS = "reads";

    private final Plan plan;
    private final Children children;
    private final Consumer<String> say;
    private @Nullable Rack rack;

    /**
     * A request for trials.
     *
     * @param via LOOPBACK or VERBS
     * @param device for dc; null for the first that works
     * @param python a Python interpreter with the packages railhead and torch
     */
    record Plan(Via via, long bytes, MinimumDurations minima, int processes,
            @Nullable String device,
            String python, Path storeJar) {}

    Qualification(Plan plan, Children children, Consumer<String> say) {
        this.plan = plan;
        this.children = children;
        this.say = say;
    }

    List<Trial> run() {
        List<Trial> trials = new ArrayList<>();
        for (Attempt attempt : attempts()) {
            say.accept("Trying: " + attempt.name() + " ...");
            trials.add(attempt.run());
        }
        return trials;
    }

    /** Returns the rows of the reads; none before they were measured. */
    List<ReadingRow> rows() {
        return rack == null ? List.of() : rack.readings().rows();
    }

    private List<Attempt> attempts() {
        String over = plan.via() == Via.VERBS
                ? "through this machine's adapter"
                : "through shared memory of this host, which says nothing about an adapter";
        return List.of(
                new Attempt("machine", "Devices, drivers, libraries and limits are as a gateway"
                        + " needs them; nothing is moved.", this::machine),
                new Attempt(READS, "A gateway writes objects one-sided into a client's memory "
                        + over + ", and every byte is what the store has.", this::reads),
                new Attempt("writes", "A gateway reads a client's memory one-sided " + over
                        + ", and every byte reaches the store.", this::writes),
                new Attempt("processes", "Several client processes are served at the same"
                        + " time, and every byte is right.", this::processes),
                new Attempt("gpu", "Objects arrive in a GPU's memory: directly (GPUDirect) where"
                        + " the memory can be registered, else through a pinned ring.", this::gpu),
                new Attempt("dc", "A dynamically connected target takes writes and reads of the"
                        + " dc fabric, from a port of an mlx5 adapter to itself.", this::dc),
                new Attempt("perftest", "The adapter's own bandwidth, measured without Railhead,"
                        + " to hold the reads against.", this::perftest));
    }

    private Path configuration() throws IOException {
        children.privateFile("machine-credentials.yaml", """
                principals:
                  - name: nobody
                    keys: [{access_key: NOBODYACCESSKEY, secret_key: nobody-secret-key}]
                """);
        return children.privateFile("machine.yaml", """
                gateway: {credentials: machine-credentials.yaml}
                cache: {memory: 64MiB}
                backends:
                  store: {endpoints: ["http://127.0.0.1:1"], region: us-east-1}
                rdma:
                  loopback: {socket: "%s"}
                  verbs: {enabled: %s}
                """.formatted(children.socket("machine.sock"), plan.via() == Via.VERBS));
    }

    private Seen machine() throws IOException {
        List<Finding> findings = Doctor.thisMachine(configuration());
        List<String> failed = say(findings, Finding.Mark.FAIL);
        if (!failed.isEmpty()) {
            throw new IOException(String.join("; ", failed));
        }
        List<String> warned = say(findings, Finding.Mark.WARN);
        return new Seen(warned.isEmpty()
                ? findings.size() + " findings, nothing to mend"
                : "to look at: " + String.join("; ", warned), Map.of());
    }

    private static List<String> say(List<Finding> findings, Finding.Mark mark) {
        return findings.stream()
                .filter(finding -> finding.mark() == mark)
                .map(finding -> finding.subject() + ": " + finding.found())
                .toList();
    }

    private Seen reads() throws IOException {
        Rack started = Rack.start(plan.storeJar(), plan.bytes(), plan.via(), plan.minima(),
                children, say);
        rack = started;
        started.readings().direct();
        started.readings().hits(started.gateway());
        Map<String, Double> figures = new TreeMap<>();
        started.readings()
                .rows()
                .forEach(readingRow -> figures.put(readingRow.path() + "_mib_per_s",
                        readingRow.mibPerS()));
        return new Seen(started.origin().manifest().entries().size() + " objects, "
                + started.origin().manifest().totalBytes() + " bytes, in each pass", figures);
    }

    private Seen writes() throws IOException, NotRunException {
        Rack started = started();
        long bytes = started.readings().written(started.gateway(), started.toWrite());
        return new Seen(bytes + " bytes written and read from the store", Map.of());
    }

    private Seen processes() throws IOException, NotRunException {
        Rack started = started();
        List<Double> each = started.readings().together(started.gateway(), plan.processes());
        return new Seen(each.size() + " client processes", Map.of("slowest_mib_per_s",
                each.stream().mapToDouble(Double::doubleValue).min().orElse(0),
                "fastest_mib_per_s",
                each.stream().mapToDouble(Double::doubleValue).max().orElse(0)));
    }

    private Seen gpu() throws IOException, NotRunException {
        Rack started = started();
        List<GpuCheck.Way> ways = new GpuCheck(plan.python(), started.origin(), children)
                .run(started.gateway().endpoint(), plan.via());
        Map<String, Double> figures = new TreeMap<>();
        List<String> words = new ArrayList<>();
        for (GpuCheck.Way way : ways) {
            figures.put(way.way() + "_mib_per_s", way.mibPerS());
            words.add(way.device() + ", " + way.way() + " memory, over " + way.via() + ": "
                    + way.memory());
        }
        return new Seen(String.join("; ", words), figures);
    }

    private Rack started() throws NotRunException {
        if (rack == null) {
            throw new NotRunException("the gateway of the trial '" + READS + "' did not start");
        }
        return rack;
    }

    private Seen dc() throws IOException, NotRunException {
        if (Hardware.read(Path.of("/"))
                .adapters()
                .stream()
                .noneMatch(
                        adapter -> adapter.driver().startsWith("mlx5"))) {
            throw new NotRunException("this machine has no mlx5 adapter");
        }
        List<Finding> findings = Doctor.dcSelfTest(configuration(), plan.device());
        List<String> failed = say(findings, Finding.Mark.FAIL);
        if (!failed.isEmpty()) {
            throw new IOException(String.join("; ", failed));
        }
        return new Seen(String.join("; ", say(findings, Finding.Mark.OK)), Map.of());
    }

    private Seen perftest() throws IOException, NotRunException {
        if (!Perftest.isInstalled()) {
            throw new NotRunException("there is no " + Perftest.PROGRAM
                    + ": apt-get install perftest, or: dnf install perftest");
        }
        List<GidChoice.Chosen> ports = ports();
        if (ports.isEmpty()) {
            throw new NotRunException("this machine has no RDMA port that can be used");
        }
        GidChoice.Chosen near = ports.getFirst();
        GidChoice.Chosen far = ports.getLast();
        double mibPerS = new Perftest(children, near, far).mibPerS();
        return new Seen("from " + far.device().name() + " to " + near.device().name()
                + ", writes of 1 MiB", Map.of("ib_write_bw_mib_per_s", mibPerS));
    }

    /** Returns the ports that a gateway would use. */
    static List<GidChoice.Chosen> ports() {
        return Adapters.choose(MachineNeeds.defaults().rdma(), Hardware.devices(Path.of("/")))
                .stream()
                .filter(GidChoice.Chosen.class::isInstance)
                .map(GidChoice.Chosen.class::cast)
                .toList();
    }
}
