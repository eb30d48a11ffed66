package io.railhead.cache.memory;

import io.railhead.os.HostLimits;
import io.railhead.os.HugePageSize;
import io.railhead.os.HugePages;

/** Refuses more memory than this machine can give, in one line that names the setting. */
final class MemoryLimits {
    private static final double GIB = 1 << 30;
    private static final double MIB = 1 << 20;

    private MemoryLimits() {}

    static void require(MemoryConfig config, HostLimits limits) {
        HugePageSize hugePages = config.hugePages();
        if (hugePages != null) {
            requireHugePages(config.memoryBytes(), HugePages.read(hugePages));
            return;
        }
        if (config.memoryBytes() > limits.availableBytes()) {
            throw new IllegalArgumentException(
                    "cache.memory: " + MemoryBudget.size(config.memoryBytes())
                            + " is more than the " + MemoryBudget.size(limits.availableBytes())
                            + " this machine has free: "
                            + MemoryBudget.of(config, 0).mend(limits.availableBytes()));
        }
        if (config.lock() && config.memoryBytes() > limits.memlockBytes()) {
            throw new IllegalArgumentException("cache.memory: "
                    + MemoryBudget.size(config.memoryBytes())
                    + " is more than the " + MemoryBudget.size(limits.memlockBytes())
                    + " this process may lock: set LimitMEMLOCK (systemd) or ulimit -l to at least "
                    + config.memoryBytes() / 1024 + " KiB, or set cache.memory to at most "
                    + whole(limits.memlockBytes()));
        }
    }

    static void requireHugePages(long memoryBytes, HugePages pages) {
        long needed = memoryBytes / pages.size().bytes();
        String what = "cache.huge_pages: cache.memory of " + MemoryBudget.size(memoryBytes)
                + " takes " + needed
                + " huge pages of " + pages.size();
        if (memoryBytes > pages.groupBytes()) {
            throw new IllegalArgumentException(what + ", this container may have "
                    + pages.groupBytes() / pages.size().bytes() + ": set the pod's limit "
                    + podResource(pages.size()) + " to at least " + (memoryBytes >> 20)
                    + "Mi, or cache.huge_pages: off");
        }
        if (needed > pages.free()) {
            throw new IllegalArgumentException(what + ", this machine has " + pages.free()
                    + " free: " + reserve(pages, pages.total() - pages.free() + needed)
                    + ", or set cache.huge_pages: off");
        }
    }

    private static String podResource(HugePageSize size) {
        return switch (size) {
            case MIB_2 -> "hugepages-2Mi";
            case GIB_1 -> "hugepages-1Gi";
        };
    }

    /**
     * Returns the command that reserves huge pages. {@code vm.nr_hugepages} concerns the default
     * size: 2 MiB unless a kernel option sets another.
     */
    private static String reserve(HugePages pages, long total) {
        return switch (pages.size()) {
            case MIB_2 -> "sysctl -w vm.nr_hugepages=" + total;
            case GIB_1 -> "start the kernel with hugepagesz=1G hugepages=" + total;
        };
    }

    /** Returns a rounded size a little below the free memory, which may shrink soon. */
    private static String whole(long bytes) {
        long advised = bytes / 20 * 19;
        if (advised >= GIB) {
            return (long) (advised / GIB) + "GiB";
        }
        return advised >= MIB ? (long) (advised / MIB) + "MiB" : advised / 1024 + "KiB";
    }
}
