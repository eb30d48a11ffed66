package io.railhead.cli.doctor;

import io.railhead.cli.doctor.Finding.Mark;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.MachineNeeds;
import io.railhead.gateway.identity.CredentialStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Compares a machine and its surroundings with a configuration. Blocks. Reads only, but for a
 * scratch file beside a file of the disk tier.
 */
public final class Doctor {
    static final Path DEFAULT_CONFIG = Path.of("/etc/railhead/railhead.yaml");
    private static final String CONFIGURATION = "configuration";
    private static final List<Check> MACHINE = List.of(new MemoryCheck(), new DeviceCheck(),
            new DriverCheck(), new NumaCheck(), new CongestionCheck(), new ProcessCheck());
    /** The resources that a running gateway has taken already. */
    private static final Set<String> TAKEN = Set.of(MemoryCheck.ROOM, MemoryCheck.HUGE_PAGES);

    private final Host host;
    private final Parts parts;

    Doctor(Host host, Parts parts) {
        this.host = host;
        this.parts = parts;
    }

    /** Compares this machine only with a configuration. */
    public static List<Finding> thisMachine(Path config) {
        return new Doctor(Host.local(), Parts.unwatched()).examineMachine(config);
    }

    /**
     * Moves bytes over the dc fabric from a port of an mlx5 adapter to itself.
     *
     * @param device null for the first that works
     */
    public static List<Finding> dcSelfTest(Path config, @Nullable String device) {
        return DcTrial.on(Host.local()).run(config, device);
    }

    /** Examines the machine only, without the network. */
    List<Finding> examineMachine(@Nullable Path named) {
        List<Finding> findings = new ArrayList<>();
        MachineNeeds needs = load(named, findings).map(MachineNeeds::of)
                .orElseGet(MachineNeeds::defaults);
        findings.addAll(machine(needs));
        return findings;
    }

    /**
     * @param named null for the configuration that {@code serve} reads, if there is one, else the
     *            defaults
     * @param buckets the buckets to check, by backend; throws IllegalArgumentException for an
     *            unknown backend
     */
    List<Finding> examine(@Nullable Path named, Map<String, List<String>> buckets) {
        List<Finding> findings = new ArrayList<>();
        Optional<GatewayConfig> loaded = load(named, findings);
        if (loaded.isEmpty()) {
            findings.addAll(machine(MachineNeeds.defaults()));
            return findings;
        }
        GatewayConfig config = loaded.get();
        requireBackends(config, buckets.keySet());
        CredentialStore credentials = GatewayFiles.credentials(config.gateway(), findings);
        Site site = new Site(host, config, credentials, buckets);
        Optional<RunningGateway> running = RunningGateway.at(config.gateway().health(),
                config.gateway().healthTls());
        List<ParallelCheck> around = new ArrayList<>();
        around.addAll(GatewayFiles.parts(site));
        around.add(new ParallelCheck("machine", () -> {
            List<Finding> found = machine(MachineNeeds.of(config));
            return running.isPresent() ? found.stream().map(Doctor::taken).toList() : found;
        }));
        around.addAll(DiskChecks.parts(site, running));
        around.addAll(Ports.parts(site, running));
        around.addAll(IssuerChecks.parts(site));
        around.addAll(StoreChecks.parts(site));
        findings.addAll(parts.lookAt(around));
        return findings;
    }

    private static void requireBackends(GatewayConfig config, Set<String> named) {
        for (String backend : named) {
            if (!config.backends().containsKey(backend)) {
                throw new IllegalArgumentException("there is no backend '" + backend + "' among "
                        + String.join(", ", config.backends().keySet()));
            }
        }
    }

    private List<Finding> machine(MachineNeeds needs) {
        return MACHINE.stream().flatMap(check -> check.run(host, needs).stream()).toList();
    }

    private static Finding taken(Finding finding) {
        return finding.mark() != Mark.OK && TAKEN.contains(finding.subject())
                ? Finding.ok(finding.subject(), finding.found()
                        + ", besides what the running gateway has", finding.why())
                : finding;
    }

    private Optional<GatewayConfig> load(@Nullable Path named, List<Finding> findings) {
        String why = "the other checks depend on it";
        Path config = named == null ? host.at(DEFAULT_CONFIG.toString()) : named;
        if (named == null && !Files.exists(config)) {
            findings.add(Finding.ok(CONFIGURATION, "no " + DEFAULT_CONFIG + ": the defaults", why));
            return Optional.empty();
        }
        try {
            GatewayConfig loaded = ConfigLoader.load(config);
            findings.add(Finding.ok(CONFIGURATION, config + " is good", why));
            return Optional.of(loaded);
        } catch (ConfigException e) {
            findings.add(Finding.fail(CONFIGURATION, String.valueOf(e.getMessage()),
                    why + "; the checks below assume the defaults",
                    "mend that line; railhead serve --check reads it again"));
            return Optional.empty();
        }
    }
}
