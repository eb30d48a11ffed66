package io.railhead.os;

import java.nio.file.Path;
import java.util.List;

/**
 * Huge pages of one size, as the kernel has reserved them for whoever maps them.
 *
 * @param total reserved at all ({@code vm.nr_hugepages}); 0 too where the kernel has none of the
 *            size
 * @param free reserved and promised to nobody
 * @param groupBytes what the control group still allows, or {@link Long#MAX_VALUE}
 * @see <a href="https://docs.kernel.org/admin-guide/mm/hugetlbpage.html">HugeTLB Pages</a>
 */
public record HugePages(HugePageSize size, long total, long free, long groupBytes) {

    public static HugePages read(HugePageSize size) {
        return read(Path.of("/"), size);
    }

    /** As a machine has them whose /proc and /sys lie below {@code root}. */
    public static HugePages read(Path root, HugePageSize size) {
        Path pool = root
                .resolve("sys/kernel/mm/hugepages/hugepages-" + (size.bytes() >> 10) + "kB");
        List<String> membership = ProcFields.lines(root.resolve("proc/self/cgroup"));
        return new HugePages(size, number(pool.resolve("nr_hugepages")),
                number(pool.resolve("free_hugepages")) - number(pool.resolve("resv_hugepages")),
                ControlGroup.remainingHugeBytes(membership, root.resolve("sys/fs/cgroup"), size));
    }

    private static long number(Path file) {
        List<String> lines = ProcFields.lines(file);
        return lines.isEmpty() ? 0 : Long.parseLong(lines.getFirst().trim());
    }

    public long freeBytes() {
        return free * size.bytes();
    }
}
