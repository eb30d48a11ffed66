package io.railhead.cli.doctor;

import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.MachineNeeds;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Holds a machine against a configuration. Blocks; reads only. */
final class Doctor {
    static final Path DEFAULT_CONFIG = Path.of("/etc/railhead/railhead.yaml");
    private static final String CONFIGURATION = "configuration";
    private static final List<Check> CHECKS = List.of(new MemoryCheck(), new DeviceCheck(),
            new DriverCheck(), new ProcessCheck());

    private final Host host;

    Doctor(Host host) {
        this.host = host;
    }

    /** @param config null: the one that {@code serve} reads, if there is one, else the defaults */
    List<Finding> examine(@Nullable Path config) {
        List<Finding> findings = new ArrayList<>();
        MachineNeeds needs = needs(config, findings);
        CHECKS.forEach(check -> findings.addAll(check.run(host, needs)));
        return findings;
    }

    private MachineNeeds needs(@Nullable Path named, List<Finding> findings) {
        String why = "what the machine must have follows from it";
        Path config = named == null ? host.at(DEFAULT_CONFIG.toString()) : named;
        if (named == null && !Files.exists(config)) {
            findings.add(Finding.ok(CONFIGURATION, "no " + DEFAULT_CONFIG + ": the defaults", why));
            return MachineNeeds.defaults();
        }
        try {
            MachineNeeds needs = MachineNeeds.of(ConfigLoader.load(config));
            findings.add(Finding.ok(CONFIGURATION, config + " is good", why));
            return needs;
        } catch (ConfigException e) {
            findings.add(Finding.fail(CONFIGURATION, String.valueOf(e.getMessage()),
                    why + "; what follows is held against the defaults",
                    "mend that line; railhead serve --check reads it again"));
            return MachineNeeds.defaults();
        }
    }
}
