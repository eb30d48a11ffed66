package io.railhead.cli.doctor;

import static io.railhead.cli.doctor.Finding.fail;
import static io.railhead.cli.doctor.Finding.ok;
import static io.railhead.cli.doctor.Finding.warn;

import io.railhead.cache.memory.MemoryBudget;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cli.Sizes;
import io.railhead.gateway.config.Adapters;
import io.railhead.gateway.config.GatewayConfig.Cache;
import io.railhead.gateway.config.MachineNeeds;
import io.railhead.os.HostLimits;
import io.railhead.os.HugePageSize;
import io.railhead.os.HugePages;
import io.railhead.os.devices.GidChoice;
import java.util.ArrayList;
import java.util.List;

/** Checks memory for the cache, the right to pin it, and its page sizes. */
final class MemoryCheck implements Check {
    static final String ROOM = "memory";
    static final String HUGE_PAGES = "huge pages";
    private static final String THP = "/sys/kernel/mm/transparent_hugepage/";

    @Override
    public List<Finding> run(Host host, MachineNeeds needs) {
        HostLimits limits = host.limits();
        List<Finding> findings = new ArrayList<>();
        long cache = needs.cache().memory().bytes();
        HugePageSize reserved = needs.cache().hugePages();
        if (reserved == null) {
            findings.add(room(host, budget(needs), limits));
            findings.add(hugePages(host, cache));
        } else {
            findings.add(reserved(cache, HugePages.read(host.root(), reserved)));
            findings.add(room(host, budget(needs), limits));
        }
        findings.add(memlock(host, needs, limits.memlockBytes()));
        findings.add(sharedHugePages(host));
        return findings;
    }

    /** Returns the budget of a gateway with the same heap as this command. */
    private static MemoryBudget budget(MachineNeeds needs) {
        Cache cache = needs.cache();
        return MemoryBudget.of(new MemoryConfig(cache.memory().bytes(),
                (int) cache.page().bytes(), cache.reserve().value() / 100.0, cache.lock(),
                cache.hugePages()), cache.diskMemory().indexBytes());
    }

    private static Finding room(Host host, MemoryBudget budget, HostLimits limits) {
        String found = Sizes.of(limits.availableBytes()) + " can be had, the cache takes "
                + Sizes.of(budget.cacheBytes()) + ", and all of it at most: " + budget;
        String why = "the cache is taken whole at start; heap and direct memory grow up to their"
                + " maxima, and past a container's limit the kernel kills the process";
        String excess = budget.excess(limits);
        if (excess != null) {
            return fail(ROOM, found, why, excess);
        }
        if (limits.availableBytes() >= budget.sumBytes()) {
            return ok(ROOM, found, why);
        }
        return limits.availableBytes() >= budget.cacheBytes()
                ? warn(ROOM, found, why, "set cache.memory lower, or -Xmx and"
                        + " -XX:MaxDirectMemorySize in JDK_JAVA_OPTIONS")
                : fail(ROOM, found, why, host.container().isPresent()
                        ? "raise the container's memory limit, or set cache.memory lower"
                        : "set cache.memory lower");
    }

    /** Checks reserved huge pages: the cache uses only these, whatever other memory is free. */
    private static Finding reserved(long cache, HugePages pages) {
        String found = pages.free() + " of " + pages.total() + " reserved pages of " + pages.size()
                + " are free, the cache takes " + ceil(cache, pages.size().bytes());
        String why = "cache.huge_pages takes the cache out of them at start";
        if (cache > pages.groupBytes()) {
            return fail(HUGE_PAGES, found + ", and this container may have "
                    + Sizes.of(pages.groupBytes()), why,
                    "raise the pod's limit of huge pages, or set cache.huge_pages: off");
        }
        if (cache <= pages.freeBytes()) {
            return ok(HUGE_PAGES, found, why);
        }
        long total = pages.total() - pages.free() + ceil(cache, pages.size().bytes());
        return fail(HUGE_PAGES, found, why, switch (pages.size()) {
            case MIB_2 -> "sysctl -w vm.nr_hugepages=" + total;
            case GIB_1 -> "start the kernel with hugepagesz=1G hugepages=" + total;
        });
    }

    private static Finding memlock(Host host, MachineNeeds needs, long limit) {
        int registrations = registrations(host, needs);
        long cache = needs.cache().memory().bytes();
        long needed = needs.rdma().usesAdapters()
                ? cache * registrations
                : needs.cache().lock() ? cache : 0;
        String found = Sizes.of(limit) + " may be pinned, "
                + (needed == 0 ? "nothing needs it" : Sizes.of(needed) + " will be");
        String why = "each adapter pins the whole cache (" + Sizes.of(cache) + " × "
                + registrations + "), cache.lock pins it once; above the limit the adapter is"
                + " unusable. CAP_IPC_LOCK lifts it. A service has a limit of its own";
        if (limit < needed) {
            return fail("memlock", found, why, mendMemlock(host));
        }
        return needed == 0 && limit < cache * registrations && !host.devices().isEmpty()
                ? warn("memlock", found + "; rdma.verbs would pin "
                        + Sizes.of(cache * registrations), why, mendMemlock(host))
                : ok("memlock", found, why);
    }

    /** Returns the number of registrations: one for each used device and fabric. */
    private static int registrations(Host host, MachineNeeds needs) {
        int byDc = needs.rdma().dc().enabled() ? 1 : 0;
        int byVerbs = needs.rdma().verbs().enabled() || byDc == 0 ? devices(host, needs) : 0;
        return byVerbs + byDc;
    }

    private static int devices(Host host, MachineNeeds needs) {
        return Math.max(1, (int) Adapters.choose(needs.rdma(), host.devices())
                .stream()
                .filter(GidChoice.Chosen.class::isInstance)
                .map(choice -> ((GidChoice.Chosen) choice).device().name())
                .distinct()
                .count());
    }

    private static String mendMemlock(Host host) {
        return switch (host.container().orElse("")) {
            case "" -> "LimitMEMLOCK=infinity in the unit, or: ulimit -l unlimited";
            case "a Kubernetes pod" ->
                "securityContext: {capabilities: {add: [IPC_LOCK]}}, and raise LimitMEMLOCK of"
                        + " the node's container runtime";
            default -> "run it with --ulimit memlock=-1 or --cap-add IPC_LOCK";
        };
    }

    private static Finding hugePages(Host host, long cache) {
        long pageBytes = meminfo(host, "Hugepagesize") * 1024;
        long free = meminfo(host, "HugePages_Free");
        long total = meminfo(host, "HugePages_Total");
        String transparent = chosen(host, "enabled");
        String found = free + " of " + total + " reserved pages of " + Sizes.of(pageBytes)
                + " are free, transparent ones: " + transparent;
        String why = "with small pages start is slower and the adapter misses its translation"
                + " cache more often";
        if (pageBytes > 0 && free * pageBytes >= cache) {
            return ok(HUGE_PAGES, found, why);
        }
        if (total > 0) {
            return warn(HUGE_PAGES, found, why + "; cache.huge_pages takes reserved ones",
                    "sysctl -w vm.nr_hugepages=" + (total - free + ceil(cache, pageBytes)));
        }
        return transparent.equals("always") || transparent.equals("madvise")
                ? ok(HUGE_PAGES, found, why)
                : warn(HUGE_PAGES, found, why, "echo madvise > " + THP + "enabled");
    }

    private static Finding sharedHugePages(Host host) {
        String found = "transparent huge pages of shared memory: " + chosen(host, "shmem_enabled");
        return ok("shared memory", found, "buffers of loopback clients are shared memory; advise"
                + " in " + THP + "shmem_enabled makes copies into large ones a little faster");
    }

    /** Returns the word in brackets. */
    private static String chosen(Host host, String file) {
        return host.line(THP + file)
                .map(line -> line.replaceAll(".*\\[(.*)].*", "$1"))
                .orElse("not known");
    }

    private static long meminfo(Host host, String field) {
        return host.lines("/proc/meminfo")
                .stream()
                .filter(line -> line.startsWith(field + ":"))
                .map(line -> line.replaceAll("[^0-9]", ""))
                .filter(digits -> !digits.isEmpty())
                .mapToLong(Long::parseLong)
                .findFirst()
                .orElse(0);
    }

    private static long ceil(long bytes, long unit) {
        return unit == 0 ? 0 : (bytes + unit - 1) / unit;
    }
}
