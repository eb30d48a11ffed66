package io.railhead.os;

import java.nio.file.Path;
import java.util.List;

/**
 * The kernel's reserve of huge pages of one size.
 *
 * @param total all reserved pages ({@code vm.nr_hugepages}); 0 also if the kernel has none of this
 *            size
 * @param free reserved pages that are not promised to a process
 * @param groupBytes the bytes that the control group still allows, or {@link Long#MAX_VALUE}
 * @see <a href="https://docs.kernel.org/admin-guide/mm/hugetlbpage.html">HugeTLB Pages</a>
 */
public record HugePages(HugePageSize size, long total, long free, long groupBytes) {

    public static HugePages read(HugePageSize size) {
        return read(Path.of("/"), size);
    }

    /** Returns the pages of a machine whose /proc and /sys lie below {@code root}. */
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
