package io.railhead.cli.doctor;

import static io.railhead.cli.doctor.Finding.fail;
import static io.railhead.cli.doctor.Finding.ok;

import io.railhead.cli.Sizes;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.DcAdapters;
import io.railhead.gateway.config.GatewayConfig.Rdma;
import io.railhead.gateway.config.MachineNeeds;
import io.railhead.gateway.rdma.session.DcKeyFile;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.verbs.Mlx5;
import io.railhead.os.verbs.VerbsExtensions;
import io.railhead.os.verbs.VerbsProvider;
import io.railhead.rdma.dc.DcFabricConfig;
import io.railhead.rdma.dc.DcSelfTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Tries the dc fabric, as configured, on this machine's own adapter. Unlike other checks of the
 * doctor it moves bytes.
 */
record DcTrial(Host host, Mover mover) {
    private static final String SUBJECT = "dc";
    private static final String WHY = "rdma.dc needs an mlx5 adapter that does as this expects;"
            + " it was written without one";

    /** Moves bytes through one port. */
    interface Mover {
        DcSelfTest.Outcome move(DcFabricConfig port, Rdma rdma) throws IOException;
    }

    /** Returns a trial on this machine's adapters. */
    static DcTrial on(Host host) {
        return new DcTrial(host, (port, rdma) -> {
            VerbsExtensions verbs = VerbsProvider.install();
            return new DcSelfTest(port, verbs, Mlx5.load(), host::devices).run();
        });
    }

    /**
     * Returns the first port that works, or why none does.
     *
     * @param named null for the configuration that {@code serve} reads, if there is one
     * @param device null for the configured one, or any that works
     */
    List<Finding> run(@Nullable Path named, @Nullable String device) {
        try {
            Rdma rdma = rdma(named);
            List<DcFabricConfig> ports = DcAdapters.choose(rdma, host.devices(),
                    DcKeyFile.read(rdma.dc()), device);
            return List.of(ports.isEmpty() ? none(device) : first(ports, rdma));
        } catch (ConfigException | IllegalArgumentException e) {
            return List.of(fail(SUBJECT, String.valueOf(e.getMessage()), WHY,
                    "mend that line; railhead serve --check reads it again"));
        }
    }

    private Rdma rdma(@Nullable Path named) throws ConfigException {
        Path config = named == null ? host.at(Doctor.DEFAULT_CONFIG.toString()) : named;
        return named == null && !Files.exists(config)
                ? MachineNeeds.defaults().rdma()
                : ConfigLoader.load(config).rdma();
    }

    private Finding none(@Nullable String device) {
        List<String> names = host.devices().stream().map(RdmaDevice::name).toList();
        String found = names.isEmpty()
                ? "the kernel lists no RDMA device"
                : device == null || names.contains(device)
                        ? "no port of " + String.join(", ", names) + " can be used"
                        : "there is no device " + device + " among " + String.join(", ", names);
        return fail(SUBJECT, found, WHY, "run it where a ConnectX-5 or newer is, with --device and"
                + " its name of: rdma link");
    }

    private Finding first(List<DcFabricConfig> ports, Rdma rdma) {
        List<String> reasons = new ArrayList<>();
        for (DcFabricConfig port : ports) {
            String place = port.device() + " port " + port.port();
            try {
                DcSelfTest.Outcome outcome = mover.move(port, rdma);
                return ok(SUBJECT, Sizes.of(outcome.bytes()) + " written to a target of " + place
                        + " in " + micros(outcome.write().toNanos()) + " and read from it in "
                        + micros(outcome.read().toNanos()) + ", compared; MTU " + outcome.mtu()
                        + ", traffic class " + port.sending().trafficClass()
                        + (port.key().isWellKnown() ? ", the well-known DC key" : ""), WHY);
            } catch (IOException | LinkageError | UnsupportedOperationException e) {
                reasons.add(place + ": " + e.getMessage());
            }
        }
        return fail(SUBJECT, String.join("; ", reasons), WHY,
                "docs/fabrics.md says what it needs; railhead doctor looks at the adapter itself");
    }

    private static String micros(long nanos) {
        return String.format(Locale.ROOT, "%.0f µs", nanos / 1000.0);
    }
}
