package io.railhead.cli.qualify;

import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaDevices;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The hardware of the trials, as the kernel names it. It has models and versions only: no address,
 * serial number or host name.
 */
record Hardware(String kernel, String processor, int processors, long memoryMib,
        List<Adapter> adapters, List<String> gpus) {
    private static final String INFINIBAND = "sys/class/infiniband";

    /** One RDMA device. */
    record Adapter(String name, String driver, String firmware, String board, List<Port> ports) {}

    /** One port of a device. */
    record Port(int number, String state, String linkLayer, String rate) {}

    /** @param root the folder with /proc and /sys */
    static Hardware read(Path root) {
        return new Hardware(line(root.resolve("proc/sys/kernel/osrelease")),
                value(root.resolve("proc/cpuinfo"), "model name"),
                Runtime.getRuntime().availableProcessors(),
                memoryMib(value(root.resolve("proc/meminfo"), "MemTotal")),
                devices(root).stream().map(device -> adapter(root, device)).toList(), gpus(root));
    }

    static List<RdmaDevice> devices(Path root) {
        return RdmaDevices.read(root.resolve("sys"));
    }

    private static Adapter adapter(Path root, RdmaDevice device) {
        Path folder = root.resolve(INFINIBAND).resolve(device.name());
        return new Adapter(device.name(), driver(folder), line(folder.resolve("fw_ver")),
                line(folder.resolve("board_id")),
                device.ports()
                        .stream()
                        .map(port -> new Port(port.number(), port.state(), port.linkLayer(),
                                port.rate()))
                        .toList());
    }

    /**
     * Returns the driver. Soft-RoCE has none of its own: it names a network interface as its
     * parent.
     */
    private static String driver(Path folder) {
        if (Files.exists(folder.resolve("parent"))) {
            return "rdma_rxe";
        }
        try {
            return String.valueOf(
                    Files.readSymbolicLink(folder.resolve("device/driver")).getFileName());
        } catch (IOException e) {
            return "";
        }
    }

    private static List<String> gpus(Path root) {
        try (Stream<Path> each = Files.list(root.resolve("proc/driver/nvidia/gpus"))) {
            return each.sorted()
                    .map(gpu -> value(gpu.resolve("information"), "Model"))
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    private static long memoryMib(String kib) {
        return kib.isEmpty() ? 0 : Long.parseLong(kib.split(" ", 2)[0]) >> 10;
    }

    private static String line(Path file) {
        return lines(file).findFirst().map(String::strip).orElse("");
    }

    /** Returns the text behind the colon of the first line with this name. */
    private static String value(Path file, String name) {
        Optional<String> found = lines(file).filter(line -> line.startsWith(name)).findFirst();
        return found.map(line -> line.substring(line.indexOf(':') + 1).strip()).orElse("");
    }

    /** Returns no lines if the file is missing or unreadable. */
    private static Stream<String> lines(Path file) {
        try {
            return Files.readAllLines(file).stream();
        } catch (IOException e) {
            return Stream.empty();
        }
    }
}
