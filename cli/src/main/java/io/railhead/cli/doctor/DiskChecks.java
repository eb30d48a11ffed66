package io.railhead.cli.doctor;

import static io.railhead.cli.doctor.Finding.fail;
import static io.railhead.cli.doctor.Finding.ok;
import static io.railhead.cli.doctor.Finding.warn;

import io.railhead.cache.disk.DiskConfig;
import io.railhead.cache.disk.DiskMemory;
import io.railhead.cache.disk.DiskTier;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.cache.disk.DiskTrial;
import io.railhead.cli.Sizes;
import io.railhead.gateway.config.GatewayConfig.Cache;
import io.railhead.gateway.config.GatewayConfig.Disk;
import io.railhead.os.DirectFile;
import io.railhead.os.OsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Checks the files and devices of {@code cache.disk}: rights, content, room, speed, memory. */
final class DiskChecks {
    private static final String SUBJECT = "cache.disk";
    private static final String SERVICE_USER = "railhead";
    /** Of a SATA drive. Less is no gain over a store on a fast network. */
    private static final double SLOW = 300;
    private static final int DAY_SECONDS = 86_400;

    private final Host host;
    private final Cache cache;
    private final Disk disk;
    private final boolean gatewayRuns;

    private DiskChecks(Host host, Cache cache, Disk disk, boolean gatewayRuns) {
        this.host = host;
        this.cache = cache;
        this.disk = disk;
        this.gatewayRuns = gatewayRuns;
    }

    static List<ParallelCheck> parts(Site site, Optional<RunningGateway> running) {
        GatewayConfig config = site.config();
        Disk disk = config.cache().disk();
        if (disk == null) {
            return List.of();
        }
        DiskChecks checks = new DiskChecks(site.host(), config.cache(), disk,
                running.isPresent());
        List<ParallelCheck> parts = new ArrayList<>();
        parts.add(new ParallelCheck("memory of the disk tier", () -> List.of(checks.memory())));
        for (String path : disk.paths()) {
            parts.add(new ParallelCheck(path, () -> checks.look(Path.of(path))));
        }
        return parts;
    }

    private Finding memory() {
        DiskMemory memory = cache.diskMemory();
        long heap = Runtime.getRuntime().maxMemory();
        String found = "its index takes " + Sizes.of(memory.indexBytes())
                + " outside the heap, its filters " + Sizes.of(memory.heapBytes()) + " of the "
                + Sizes.of(heap) + " heap";
        String why = "the memory limit of the service or container must have room for it";
        return memory.heapBytes() <= heap / 4
                ? ok(SUBJECT, found, why)
                : warn(SUBJECT, found, "a heap that is too small stops caching",
                        "a larger heap by -Xmx in JDK_JAVA_OPTIONS, or a smaller"
                                + " cache.disk.size");
    }

    private List<Finding> look(Path path) {
        String why = "a gateway serves without a disk that it cannot use";
        List<String> problems = DiskTier.check(new DiskConfig(List.of(path.toString()),
                disk.size().bytes(), 0, 0, (int) cache.page().bytes(), cache.page().bytes(),
                DiskConfig.HANGS));
        if (!problems.isEmpty()) {
            return List.of(refused(path, problems.getFirst(), why));
        }
        List<Finding> findings = new ArrayList<>();
        findings.add(usable(path, why));
        findings.add(speed(path));
        return findings;
    }

    private Finding refused(Path path, String problem, String why) {
        if (problem.contains("another process uses it")) {
            Optional<String> owner = owner(path);
            return gatewayRuns
                    ? ok(SUBJECT, path + " is in use"
                            + owner.map(name -> " by " + name).orElse("")
                            + ", and a gateway runs here", why)
                    : fail(SUBJECT, problem + owner.map(name -> ": " + name).orElse(""), why,
                            "end the other gateway, or name another file or device under"
                                    + " cache.disk.paths: each is for one gateway");
        }
        return fail(SUBJECT, problem, why, mend(path, problem));
    }

    private String mend(Path path, String problem) {
        String user = System.getProperty("user.name");
        for (Map.Entry<String, String> each : List.of(
                Map.entry("may not read and write", DirectFile.isDevice(path.toString())
                        ? "a udev rule with OWNER=\"" + user + "\" for the device"
                        : "chown " + user + " " + path + " and its folder"),
                Map.entry("O_DIRECT", "a file on ext4 or xfs, or a block device"),
                Map.entry("disk format", "railhead disk format " + path + ", if nobody needs that"),
                Map.entry("MiB left", "make room, or set cache.disk.size lower"),
                Map.entry("the device has", "set cache.disk.size to what the device has, or less"),
                Map.entry("it is mounted", "umount it, or name another device; lsblk and fuser -v"
                        + " say who has it"),
                Map.entry("no such device", "name a device of /dev/disk/by-id"),
                Map.entry("did not answer", "replace the drive; dmesg says what it does"),
                Map.entry("Read-only", "a folder that the service may write: /var/lib/railhead, or"
                        + " ReadWritePaths= in the unit"))) {
            if (problem.contains(each.getKey())) {
                return each.getValue();
            }
        }
        return "railhead disk show " + path + " says what it holds";
    }

    /** Returns the process that has the file open, as far as this user may see it. */
    private Optional<String> owner(Path path) {
        String real;
        try {
            real = path.toRealPath().toString();
        } catch (IOException e) {
            return Optional.empty();
        }
        return host.names("/proc")
                .stream()
                .filter(pid -> pid.matches("\\d+"))
                .filter(pid -> host.names("/proc/" + pid + "/fd")
                        .stream()
                        .anyMatch(fd -> link("/proc/" + pid + "/fd/" + fd).equals(real)))
                .map(pid -> host.line("/proc/" + pid + "/comm").orElse("a process") + " (pid "
                        + pid + ")")
                .findFirst();
    }

    private String link(String file) {
        try {
            return Files.readSymbolicLink(host.at(file)).toString();
        } catch (IOException e) {
            // The descriptor is another user's, or closed by now.
            return "";
        }
    }

    private Finding usable(Path path, String why) {
        String found = path + (Files.exists(path) ? " can be used" : " can be made") + ", "
                + Sizes.of(disk.size().bytes());
        String owner = ownerOtherThanService(path);
        return owner.isEmpty()
                ? ok(SUBJECT, found, why)
                : warn(SUBJECT, found + ", but it is " + owner + "'s, and the service runs as "
                        + SERVICE_USER, why,
                        DirectFile.isDevice(path.toString())
                                ? "a udev rule with OWNER=\"" + SERVICE_USER
                                        + "\" for the device"
                                : "chown " + SERVICE_USER + ": " + there(path));
    }

    /** Returns the file, or the folder in which it will be made. */
    private static Path there(Path path) {
        return Files.exists(path) ? path : path.toAbsolutePath().resolveSibling("");
    }

    /** Root may do all, so its own trial says nothing of the service. */
    private String ownerOtherThanService(Path path) {
        boolean hasService = host.has("/usr/lib/systemd/system/railhead.service")
                && host.lines("/etc/passwd")
                        .stream()
                        .anyMatch(line -> line.startsWith(SERVICE_USER + ":"));
        if (!hasService || !System.getProperty("user.name").equals("root")) {
            return "";
        }
        try {
            String owner = Files.getOwner(there(path)).getName();
            return owner.equals(SERVICE_USER) ? "" : owner;
        } catch (IOException e) {
            return "";
        }
    }

    private Finding speed(Path path) {
        String why = "a disk that is slower than the store makes hits slow, and its queue drops"
                + " pages";
        try {
            boolean isDevice = DirectFile.isDevice(path.toString());
            DiskSpeed speed = isDevice
                    ? DiskSpeed.ofDevice(path)
                    : DiskSpeed.ofFolder(path.toAbsolutePath().resolveSibling(""));
            String found = String.format(Locale.ROOT, "%s reads %.0f MiB/s", path,
                    speed.reads())
                    + (isDevice
                            ? " (writes are not tried on a device)"
                            : String.format(Locale.ROOT, ", writes %.0f MiB/s", speed.writes()));
            double budget = disk.writesPerDay().bytes() / (double) DAY_SECONDS / (1 << 20);
            if (speed.reads() < SLOW) {
                return warn("disk speed", found, why, "an NVMe drive: docs/disk-operations.md");
            }
            return !isDevice && speed.writes() < budget / disk.paths().size()
                    ? warn("disk speed", found + String.format(Locale.ROOT,
                            ", and writes_per_day is %.0f MiB/s for all disks", budget), why,
                            "a smaller cache.disk.writes_per_day, or a faster drive")
                    : ok("disk speed", found, why);
        } catch (IOException | OsException e) {
            return warn("disk speed", path + " could not be measured: " + e.getMessage(), why,
                    "make 64 MiB of room beside it, or look at the drive: dmesg");
        }
    }
}
