package io.railhead.cli.doctor;

import static io.railhead.cli.doctor.Finding.ok;
import static io.railhead.cli.doctor.Finding.warn;

import io.railhead.cli.Sizes;
import io.railhead.gateway.config.Adapters;
import io.railhead.gateway.config.GatewayConfig.Cache;
import io.railhead.gateway.config.MachineNeeds;
import io.railhead.os.devices.GidChoice;
import io.railhead.os.devices.RdmaDevice;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Stream;

/** Checks that this process has its processors and memory on the adapters' side of the machine. */
final class NumaCheck implements Check {
    private static final String NODES = "/sys/devices/system/node";

    @Override
    public List<Finding> run(Host host, MachineNeeds needs) {
        List<String> nodes = host.names(NODES)
                .stream()
                .filter(name -> name.matches("node\\d+"))
                .toList();
        if (nodes.size() < 2) {
            return List.of();
        }
        return Adapters.choose(needs.rdma(), host.devices())
                .stream()
                .flatMap(choice -> choice instanceof GidChoice.Chosen(var device, var _, var _)
                        ? Stream.of(device)
                        : Stream.empty())
                .filter(device -> device.numaNode() >= 0)
                .distinct()
                .map(device -> place(host, device, ordinaryBytes(needs.cache())))
                .toList();
    }

    /**
     * Returns the cache's bytes of ordinary pages: a node's free memory excludes reserved huge
     * pages.
     */
    private static long ordinaryBytes(Cache cache) {
        return cache.hugePages() == null ? cache.memory().bytes() : 0;
    }

    private static Finding place(Host host, RdmaDevice device, long cache) {
        int node = device.numaNode();
        String cpus = host.line(NODES + "/node" + node + "/cpulist").orElse("");
        BitSet near = list(cpus);
        BitSet allowed = list(status(host, "Cpus_allowed_list"));
        String memory = status(host, "Mems_allowed_list");
        String at = device.name() + " is on node " + node;
        String why = "bytes and doorbells between the two sides cross the link between sockets,"
                + " which has less bandwidth than the adapter";
        if (!allowed.isEmpty() && !near.isEmpty() && !allowed.intersects(near)) {
            return warn("numa", at + " with CPUs " + cpus + ", this process may run on "
                    + status(host, "Cpus_allowed_list") + " only", why, mend(host, node, cpus));
        }
        if (!memory.isEmpty() && !list(memory).get(node)) {
            return warn("numa", at + ", this process may have memory of node " + memory + " only",
                    why, mend(host, node, cpus));
        }
        long free = free(host, node);
        if (free >= 0 && free < cache) {
            return warn("numa", at + ", which has " + Sizes.of(free) + " free for a cache of "
                    + Sizes.of(cache), why + "; what does not fit comes from another node",
                    "set cache.memory lower, or end what holds memory there: numastat -m");
        }
        return ok("numa", at + ", where this process may run", why);
    }

    private static String mend(Host host, int node, String cpus) {
        return host.container().isPresent()
                ? "kubelet --topology-manager-policy=single-numa-node with --cpu-manager-policy="
                        + "static, or the container's cpuset: --cpuset-cpus=" + cpus
                        + " --cpuset-mems=" + node
                : "CPUAffinity=" + cpus + " and NUMAPolicy=preferred, NUMAMask=" + node
                        + " in the unit, or: numactl --cpunodebind=" + node + " --preferred="
                        + node + " railhead serve";
    }

    private static String status(Host host, String field) {
        return host.lines("/proc/self/status")
                .stream()
                .filter(line -> line.startsWith(field + ":"))
                .map(line -> line.substring(field.length() + 1).strip())
                .findFirst()
                .orElse("");
    }

    /** Returns -1 if it is unknown. */
    private static long free(Host host, int node) {
        return host.lines(NODES + "/node" + node + "/meminfo")
                .stream()
                .filter(line -> line.contains(" MemFree:"))
                .map(line -> line.replaceAll(".*MemFree:\\s*(\\d+) kB.*", "$1"))
                .mapToLong(Long::parseLong)
                .map(kib -> kib * 1024)
                .findFirst()
                .orElse(-1);
    }

    /** Parses the kernel's lists, such as 0-3,8. */
    private static BitSet list(String text) {
        BitSet members = new BitSet();
        for (String range : text.isEmpty() ? new String[0] : text.split(",", -1)) {
            String[] ends = range.split("-", 2);
            members.set(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]) + 1);
        }
        return members;
    }
}
