package io.railhead.cli.doctor;

import static io.railhead.cli.doctor.Finding.lacking;
import static io.railhead.cli.doctor.Finding.ok;

import io.railhead.gateway.config.MachineNeeds;
import io.railhead.os.devices.RdmaDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Checks the device files, kernel modules and libraries that a process needs for its adapters. */
final class DriverCheck implements Check {
    private static final String NODES = "/dev/infiniband";
    private static final List<String> LIBRARY_FOLDERS = List.of("/usr/lib64/libibverbs",
            "/usr/lib/libibverbs", "/usr/lib/x86_64-linux-gnu/libibverbs",
            "/usr/lib/aarch64-linux-gnu/libibverbs");
    /** rdma-core's name of a provider, by the kernel's driver name. */
    private static final Map<String, String> PROVIDERS = Map.of("mlx5_core", "mlx5",
            "mlx4_core", "mlx4", "bnxt_en", "bnxt_re", "ice", "irdma", "i40e", "irdma", "hns3",
            "hns", "qede", "qedr");

    @Override
    public List<Finding> run(Host host, MachineNeeds needs) {
        boolean asked = needs.rdma().usesAdapters();
        List<RdmaDevice> devices = host.devices();
        if (!asked && devices.isEmpty()) {
            return List.of();
        }
        List<Finding> findings = new ArrayList<>();
        if (!devices.isEmpty()) {
            findings.add(uverbs(host, asked));
            findings.add(connectionManager(host, asked));
        }
        findings.add(library(host, "libibverbs.so.1", "libibverbs1", "libibverbs", asked));
        findings.add(library(host, "librdmacm.so.1", "librdmacm1", "librdmacm", asked));
        for (RdmaDevice device : devices) {
            if (!device.isIwarp()) {
                findings.add(provider(host, device.name(), asked));
            }
        }
        return findings;
    }

    private static Finding uverbs(Host host, boolean asked) {
        List<String> nodes = host.names(NODES)
                .stream()
                .filter(name -> name.startsWith("uverbs"))
                .toList();
        String why = "queue pairs and registrations are made through it";
        if (nodes.isEmpty()) {
            return lacking(asked, "uverbs", NODES + "/uverbs* is not there", why,
                    mendNode(host, "modprobe ib_uverbs"));
        }
        List<String> denied = nodes.stream()
                .filter(name -> !host.mayUse(NODES + "/" + name))
                .toList();
        return denied.isEmpty()
                ? ok("uverbs", String.join(", ", nodes) + " may be used", why)
                : lacking(asked, "uverbs", String.join(", ", denied)
                        + " may not be read and written by this user", why,
                        mendAccess(host, NODES + "/uverbs*"));
    }

    private static Finding connectionManager(Host host, boolean asked) {
        String node = NODES + "/rdma_cm";
        String why = "peers connect through it";
        if (!host.has(node)) {
            return lacking(asked, "rdma_cm", node + " is not there"
                    + (host.has("/sys/module/rdma_ucm") ? "" : ", rdma_ucm is not loaded"), why,
                    mendNode(host, "modprobe rdma_ucm"));
        }
        return host.mayUse(node)
                ? ok("rdma_cm", node + " may be used", why)
                : lacking(asked, "rdma_cm", node + " may not be read and written by this user",
                        why, mendAccess(host, node));
    }

    private static String mendNode(Host host, String modprobe) {
        return host.container().isPresent()
                ? "on the node: " + modprobe + "; in the container: --device " + NODES
                        + ", or the RDMA device plugin's resource"
                : modprobe;
    }

    private static String mendAccess(Host host, String nodes) {
        return host.container().isPresent()
                ? "allow it in the container's device rules: --device " + NODES
                : "install rdma-core's udev rules and udevadm trigger, or: chmod 0666 " + nodes;
    }

    private static Finding library(Host host, String name, String deb, String rpm,
            boolean asked) {
        String why = "verbs are called through it";
        return host.loadable().test(name)
                ? ok(name, "loads", why)
                : lacking(asked, name, "cannot be loaded", why,
                        "apt-get install " + deb + ", or: dnf install " + rpm);
    }

    private static Finding provider(Host host, String device, boolean asked) {
        String provider = providerOf(host, device);
        String why = "libibverbs knows an adapter by its provider";
        boolean isThere = host.has("/etc/libibverbs.d/" + provider + ".driver")
                || LIBRARY_FOLDERS.stream()
                        .flatMap(folder -> host.names(folder).stream())
                        .anyMatch(name -> name.startsWith("lib" + provider + "-rdmav"));
        return isThere
                ? ok("provider", provider + ", for " + device, why)
                : lacking(asked, "provider", provider + ", for " + device + ", is not installed",
                        why, "apt-get install ibverbs-providers, or: dnf install libibverbs");
    }

    /**
     * Returns the provider's name. Soft-RoCE names a network interface as its parent, whose driver
     * is not the provider.
     */
    private static String providerOf(Host host, String device) {
        String folder = "/sys/class/infiniband/" + device;
        if (host.has(folder + "/parent")) {
            return "rxe";
        }
        Path link = host.at(folder + "/device/driver");
        try {
            String driver = String.valueOf(Files.readSymbolicLink(link).getFileName());
            return PROVIDERS.getOrDefault(driver, driver);
        } catch (IOException e) {
            return "rxe";
        }
    }
}
