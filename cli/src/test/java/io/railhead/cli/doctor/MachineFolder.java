package io.railhead.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A folder that looks like a machine: /proc, /sys, /dev and the rest. */
public final class MachineFolder {
    static final String MAPPED = "0000:0000:0000:0000:0000:ffff:0a63:0001";
    static final String LINK_LOCAL = "fe80:0000:0000:0000:5054:00ff:fe12:3456";

    private final Path root;

    /** A roomy machine without RDMA. */
    public MachineFolder(Path root) throws IOException {
        this.root = root;
        write("proc/meminfo", """
                MemAvailable:   67108864 kB
                HugePages_Total:       0
                HugePages_Free:        0
                Hugepagesize:       2048 kB
                """);
        limits("unlimited", "1048576");
        write("proc/self/status", "CapEff:\t0000000000000000\n");
        write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        write("sys/kernel/mm/transparent_hugepage/shmem_enabled", "always advise [never] deny\n");
        Files.createDirectories(root.resolve("run/railhead"));
        Files.createDirectories(root.resolve("dev/shm"));
    }

    public void limits(String memlock, String files) throws IOException {
        write("proc/self/limits", """
                Limit                     Soft Limit           Hard Limit           Units
                Max open files            %-20s %-20s files
                Max locked memory         %-20s %-20s bytes
                """.formatted(files, files, memlock, memlock));
    }

    public void write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    public void device(String name, String nodeType, String driver) throws IOException {
        write("sys/class/infiniband/" + name + "/node_type", nodeType + "\n");
        Path device = Files
                .createDirectories(root.resolve("sys/class/infiniband/" + name + "/device"));
        Files.deleteIfExists(device.resolve("driver"));
        Files.createSymbolicLink(device.resolve("driver"), Path.of("/sys/bus/" + driver));
    }

    public void port(String device, String state, String linkLayer) throws IOException {
        String port = "sys/class/infiniband/" + device + "/ports/1/";
        write(port + "state", state + "\n");
        write(port + "link_layer", linkLayer + "\n");
        write(port + "rate", "100 Gb/sec (4X EDR)\n");
    }

    public void gid(String device, int index, String gid, String type, String network)
            throws IOException {
        String port = "sys/class/infiniband/" + device + "/ports/1/";
        write(port + "gids/" + index, gid + "\n");
        write(port + "gid_attrs/types/" + index, type + "\n");
        if (!network.isEmpty()) {
            write(port + "gid_attrs/ndevs/" + index, network + "\n");
        }
    }

    public void nodes() throws IOException {
        write("dev/infiniband/uverbs0", "");
        write("dev/infiniband/rdma_cm", "");
    }

    /** An adapter on Ethernet with everything that it needs. */
    public void roce(String mtu) throws IOException {
        device("mlx5_0", "1: CA", "mlx5_core");
        port("mlx5_0", "4: ACTIVE", "Ethernet");
        gid("mlx5_0", 0, LINK_LOCAL, "IB/RoCE v1", "eth0");
        gid("mlx5_0", 1, LINK_LOCAL, "RoCE v2", "eth0");
        gid("mlx5_0", 2, MAPPED, "IB/RoCE v1", "eth0");
        gid("mlx5_0", 3, MAPPED, "RoCE v2", "eth0");
        write("sys/class/net/eth0/mtu", mtu + "\n");
        write("etc/libibverbs.d/mlx5.driver", "driver mlx5\n");
        nodes();
    }
}
