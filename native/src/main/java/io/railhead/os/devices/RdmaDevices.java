package io.railhead.os.devices;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * Reads the devices of {@code /sys/class/infiniband}. Each reading is a snapshot: read again when a
 * device reports a change of a port or a GID. Entries that vanish during the reading are left out.
 */
public final class RdmaDevices {
    private static final Path CHARACTER_DEVICES = Path.of("/sys/class/infiniband_verbs");
    private static final int GID_BYTES = 16;
    private static final String HOLE = "0000:0000:0000:0000:0000:0000:0000:0000";

    private final Path devices;
    private final Path networks;

    private RdmaDevices(Path sysfs) {
        devices = sysfs.resolve("class/infiniband");
        networks = sysfs.resolve("class/net");
    }

    /** Returns this machine's devices by name; none if the kernel has no RDMA. */
    public static List<RdmaDevice> read() {
        return read(Path.of("/sys"));
    }

    /** Returns the devices below another root than {@code /sys}. */
    public static List<RdmaDevice> read(Path sysfs) {
        RdmaDevices reader = new RdmaDevices(sysfs);
        List<RdmaDevice> found = new ArrayList<>();
        for (Path device : children(reader.devices)) {
            found.add(new RdmaDevice(device.getFileName().toString(),
                    afterColon(line(device.resolve("node_type")).orElse("?")),
                    line(device.resolve("device/numa_node")).map(Integer::parseInt).orElse(-1),
                    reader.ports(device.resolve("ports"))));
        }
        found.sort(Comparator.comparing(RdmaDevice::name));
        return List.copyOf(found);
    }

    /**
     * Returns an entry of a port's GID table if it is in use now; reads three files, not the table.
     */
    public static Optional<Gid> findGid(String device, int port, int index) {
        return findGid(Path.of("/sys"), device, port, index);
    }

    /** Returns such an entry below another root than {@code /sys}. */
    static Optional<Gid> findGid(Path sysfs, String device, int port, int index) {
        RdmaDevices reader = new RdmaDevices(sysfs);
        Path folder = reader.devices.resolve(device)
                .resolve("ports")
                .resolve(String.valueOf(port));
        String entry = String.valueOf(index);
        boolean isInfiniband = line(folder.resolve("link_layer")).orElse("?").equals("InfiniBand");
        return line(folder.resolve("gids").resolve(entry)).flatMap(RdmaDevices::address)
                .flatMap(address -> reader.gid(folder, entry, address, isInfiniband));
    }

    /**
     * Returns whether the kernel still offers a device to programs. False once the kernel has begun
     * to remove the device, which waits for programs that have it open.
     *
     * @param name as {@code uverbs0}
     */
    public static boolean hasCharacterDevice(String name) {
        return Files.exists(CHARACTER_DEVICES.resolve(name));
    }

    /** Returns whether there is any such device. */
    public static boolean hasCharacterDevices() {
        return children(CHARACTER_DEVICES).stream()
                .anyMatch(entry -> entry.getFileName().toString().startsWith("uverbs"));
    }

    /** Returns the name for {@link #hasCharacterDevice}; empty if the device has none. */
    public static Optional<String> findCharacterDevice(String device) {
        return children(CHARACTER_DEVICES).stream()
                .filter(entry -> line(entry.resolve("ibdev")).equals(Optional.of(device)))
                .map(entry -> entry.getFileName().toString())
                .findAny();
    }

    private List<RdmaPort> ports(Path folder) {
        List<RdmaPort> found = new ArrayList<>();
        for (Path port : children(folder)) {
            String linkLayer = line(port.resolve("link_layer")).orElse("?");
            found.add(new RdmaPort(Integer.parseInt(port.getFileName().toString()),
                    afterColon(line(port.resolve("state")).orElse("?")), linkLayer,
                    line(port.resolve("rate")).orElse("?"),
                    gids(port, linkLayer.equals("InfiniBand"))));
        }
        found.sort(Comparator.comparingInt(RdmaPort::number));
        return found;
    }

    private List<Gid> gids(Path port, boolean isInfiniband) {
        List<Gid> found = new ArrayList<>();
        for (Path file : children(port.resolve("gids"))) {
            line(file).flatMap(RdmaDevices::address)
                    .flatMap(address -> gid(port, file.getFileName().toString(), address,
                            isInfiniband))
                    .ifPresent(found::add);
        }
        found.sort(Comparator.comparingInt(Gid::index));
        return found;
    }

    /**
     * Reads an entry's details; called for entries in use only, since tables have up to a thousand,
     * most of them empty.
     */
    private Optional<Gid> gid(Path port, String index, InetAddress address,
            boolean isInfiniband) {
        Path attributes = port.resolve("gid_attrs");
        return line(attributes.resolve("types").resolve(index))
                .map(type -> new Gid(Integer.parseInt(index), address,
                        GidType.ofSysfs(type, isInfiniband),
                        line(attributes.resolve("ndevs").resolve(index)).map(this::network)));
    }

    private Gid.NetworkInterface network(String name) {
        return new Gid.NetworkInterface(name,
                line(networks.resolve(name).resolve("mtu")).map(Integer::parseInt).orElse(0));
    }

    /** Parses a GID in the kernel's form; empty for an unused entry, which is all zeros. */
    private static Optional<InetAddress> address(String gid) {
        if (gid.equals(HOLE)) {
            return Optional.empty();
        }
        try {
            byte[] bytes = HexFormat.of().parseHex(gid.replace(":", ""));
            InetAddress address = InetAddress.getByAddress(bytes);
            return Optional.of(address).filter(ignored -> bytes.length == GID_BYTES);
        } catch (IllegalArgumentException | UnknownHostException e) {
            return Optional.empty();
        }
    }

    /** Returns the text behind the colon: the kernel prints "4: ACTIVE". */
    private static String afterColon(String text) {
        return text.substring(text.indexOf(':') + 1).strip();
    }

    /** Returns a file's line; empty also if the kernel refuses, as for an unused entry's type. */
    private static Optional<String> line(Path file) {
        try {
            return Optional.of(Files.readString(file).strip()).filter(text -> !text.isEmpty());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static List<Path> children(Path folder) {
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
            List<Path> found = new ArrayList<>();
            stream.forEach(found::add);
            return found;
        } catch (IOException e) {
            return List.of();
        }
    }
}
