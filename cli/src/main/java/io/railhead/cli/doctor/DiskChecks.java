package io.railhead.cli.doctor;

import static io.railhead.cli.doctor.Finding.fail;
import static io.railhead.cli.doctor.Finding.ok;
import static io.railhead.cli.doctor.Finding.warn;
import static java.util.stream.Collectors.joining;

import io.railhead.cache.disk.DiskConfig;
import io.railhead.cache.disk.DiskMemory;
import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.disk.DiskTrial;
import io.railhead.cli.Sizes;
import io.railhead.gateway.config.GatewayConfig;
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
    /** Empty also if this user may not see it. */
    private final Optional<HostProcess> gateway;

    private DiskChecks(Host host, GatewayConfig config, Disk disk, boolean gatewayRuns) {
        this.host = host;
        this.cache = config.cache();
        this.disk = disk;
        this.gatewayRuns = gatewayRuns;
        this.gateway = gatewayRuns
                ? PortOwner.of(host, config.gateway().health().port())
                : Optional.empty();
    }

    static List<ParallelCheck> parts(Site site, Optional<RunningGateway> running) {
        GatewayConfig config = site.config();
        Disk disk = config.cache().disk();
        if (disk == null) {
            return List.of();
        }
        DiskChecks checks = new DiskChecks(site.host(), config, disk, running.isPresent());
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
        DiskTrial trial = DiskTier.check(new DiskConfig(List.of(path.toString()),
                disk.size().bytes(), 0, 0, (int) cache.page().bytes(), cache.page().bytes(),
                DiskConfig.HANGS, Map.of(), disk.keys())).getFirst();
        List<Finding> findings = new ArrayList<>();
        if (trial.isInUse()) {
            findings.add(inUse(path, trial.problem(), why));
        } else if (!trial.problem().isEmpty()) {
            findings.add(fail(SUBJECT, trial.problem(), why, mend(path, trial.problem())));
        } else {
            findings.add(usable(path, why));
            findings.add(speed(path));
        }
        if (!trial.dropped().isEmpty()) {
            findings.add(warn(SUBJECT, path + ": the next start drops its pages, since "
                    + trial.dropped(), "dropped pages are fetched from the store again",
                    trial.dropped().contains("key") || trial.dropped().contains("encrypt")
                            ? "set cache.disk.encrypt back, or add the former key on a line of its"
                                    + " own behind the new one in cache.disk.key_file"
                            : "set cache.disk.size and cache.page back, if the pages shall stay"));
        }
        return findings;
    }

    /** Compares the processes that have the disk with the one that answers as the gateway. */
    private Finding inUse(Path path, String problem, String why) {
        List<HostProcess> holders = holders(path);
        String names = holders.stream().map(HostProcess::toString).collect(joining(", "));
        if (gateway.isPresent() && holders.contains(gateway.get())) {
            return ok(SUBJECT, path + " is in use by the gateway that runs here, "
                    + gateway.get(), why);
        }
        if (gatewayRuns && (gateway.isEmpty() || holders.isEmpty())) {
            return warn(SUBJECT, path + " is in use" + (names.isEmpty() ? "" : " by " + names)
                    + ", and this user cannot see whether that is the gateway that runs here", why,
                    "run the doctor as root, or as the gateway's user");
        }
        return fail(SUBJECT, problem + (names.isEmpty() ? "" : ": " + names)
                + gateway.map(each -> ", which is not the gateway that runs here, " + each)
                        .orElse(""),
                why, "end the other process, or name another file or device under"
                        + " cache.disk.paths: each is for one gateway");
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

    /** Returns the processes that have the file open, as far as this user may see them. */
    private List<HostProcess> holders(Path path) {
        try {
            return HostProcess.holding(host, path.toRealPath().toString()::equals);
        } catch (IOException e) {
            return List.of();
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
