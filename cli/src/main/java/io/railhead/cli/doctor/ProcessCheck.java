package io.railhead.cli.doctor;

import static io.railhead.cli.doctor.Finding.fail;
import static io.railhead.cli.doctor.Finding.ok;
import static io.railhead.cli.doctor.Finding.warn;

import io.railhead.cli.Sizes;
import io.railhead.gateway.config.GatewayConfig.Loopback;
import io.railhead.gateway.config.IgnoredProxies;
import io.railhead.gateway.config.MachineNeeds;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Checks the operating system's limits of the process: descriptors, folders, a container's
 * restrictions.
 */
final class ProcessCheck implements Check {
    private static final int CLIENTS = 4096;
    /** The longest path of a UNIX socket, with its final zero byte. */
    private static final int MAX_SOCKET_PATH = 108;

    @Override
    public List<Finding> run(Host host, MachineNeeds needs) {
        List<Finding> findings = new ArrayList<>();
        findings.add(descriptors(host, needs.storeConnections()));
        findings.add(socket(host, needs.rdma().loopback()));
        findings.add(sharedMemory(host));
        findings.add(proxies(host));
        host.container()
                .ifPresent(kind -> findings.add(ok("container", kind, "limits on memory and"
                        + " pinning, and the devices, are the container's: mends name its"
                        + " settings. Loopback clients need the socket's folder mounted")));
        return findings;
    }

    private static Finding descriptors(Host host, int storeConnections) {
        long limit = host.limit("Max open files");
        long least = storeConnections + (long) MachineNeeds.OWN_DESCRIPTORS;
        String found = (limit == Long.MAX_VALUE ? "any number" : limit) + " may be open, "
                + storeConnections + " connections to stores";
        String why = "each connection and each loopback buffer is a descriptor; without one,"
                + " clients are turned away";
        String mend = "LimitNOFILE=" + Math.max(65_536, 2 * least + CLIENTS)
                + " in the unit, or: ulimit -n " + Math.max(65_536, 2 * least + CLIENTS);
        if (limit < least) {
            return fail("descriptors", found, why, mend);
        }
        return limit < least + CLIENTS
                ? warn("descriptors", found, why, mend)
                : ok("descriptors", found, why);
    }

    private static Finding socket(Host host, Loopback loopback) {
        String why = "clients of this host connect to rdma.loopback.socket";
        Path socket = loopback.socket().toAbsolutePath();
        String folder = String.valueOf(socket.getParent());
        if (!loopback.enabled()) {
            return ok("loopback", "switched off", why);
        }
        if (socket.toString().length() >= MAX_SOCKET_PATH) {
            return fail("loopback", socket + " is longer than " + (MAX_SOCKET_PATH - 1)
                    + " characters", why, "name a shorter path under rdma.loopback.socket");
        }
        if (!Files.isDirectory(host.at(folder))) {
            return fail("loopback", "there is no folder " + folder, why, "install -d -o USER "
                    + folder + ", RuntimeDirectory=railhead in the unit, or set"
                    + " rdma.loopback.enabled: false");
        }
        return host.mayUse(folder)
                ? ok("loopback", socket.toString(), why)
                : fail("loopback", folder + " may not be written by this user", why,
                        "chown USER " + folder + ", or run as its owner");
    }

    private static Finding proxies(Host host) {
        String why = "backends.NAME.proxy alone names a store's proxy; the environment names none";
        List<String> variables = host.lines("/proc/self/environ")
                .stream()
                .flatMap(line -> Arrays.stream(line.split("\0")))
                .map(variable -> variable.split("=", 2)[0])
                .toList();
        List<String> ignored = IgnoredProxies.among(variables,
                System.getProperties().stringPropertyNames());
        return ignored.isEmpty()
                ? ok("proxies", "no variable names one", why)
                : warn("proxies", String.join(", ", ignored) + " ignored", why,
                        "name the proxy under backends.NAME.proxy where a store needs one, and"
                                + " unset the variables for the gateway");
    }

    private static Finding sharedMemory(Host host) {
        String why = "data loaders and collective libraries beside a client use it; Railhead's own"
                + " buffers are anonymous and need no mount";
        return Files.isDirectory(host.at("/dev/shm")) && host.mayUse("/dev/shm")
                ? ok("/dev/shm", "may be written, " + size(host), why)
                : warn("/dev/shm", "is not there, or may not be written", why,
                        "mount -t tmpfs shm /dev/shm");
    }

    private static String size(Host host) {
        // A file store needs a mount point, which a chroot does not have.
        return Sizes.of(host.at("/dev/shm").toFile().getTotalSpace()) + " in all";
    }
}
