package io.railhead.os;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The memory that this process's control group, and every group above it, still allows. Page cache
 * that the kernel can drop at once (inactive_file) does not count as used.
 *
 * @see <a href="https://docs.kernel.org/admin-guide/cgroup-v2.html">Control Group v2</a>
 */
final class ControlGroup {
    private static final String V2 = "0::";
    /** A name that no file has. */
    private static final String NOTHING = "";

    private ControlGroup() {}

    /**
     * Returns how many bytes the tightest group still allows.
     *
     * @param membership the lines of /proc/self/cgroup
     * @param mount /sys/fs/cgroup
     * @return {@link Long#MAX_VALUE} if there is no limit
     */
    static long remainingBytes(List<String> membership, Path mount) {
        return remaining(membership, mount, "memory",
                new Files("memory.max", "memory.current", "inactive_file"),
                new Files("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"));
    }

    /** Returns the tightest group's limit, whatever is used of it. */
    static long limitBytes(List<String> membership, Path mount) {
        return remaining(membership, mount, "memory",
                new Files("memory.max", NOTHING, NOTHING),
                new Files("memory.limit_in_bytes", NOTHING, NOTHING));
    }

    /**
     * Returns what the tightest group still allows of huge pages, which have limits of their own.
     */
    static long remainingHugeBytes(List<String> membership, Path mount, HugePageSize size) {
        String prefix = "hugetlb." + size.groupName();
        return remaining(membership, mount, "hugetlb",
                new Files(prefix + ".max", prefix + ".current", NOTHING),
                new Files(prefix + ".limit_in_bytes", prefix + ".usage_in_bytes", NOTHING));
    }

    /**
     * @param usage empty if nothing counts as used
     * @param droppable the field of memory.stat that does not count as used
     */
    private record Files(String limit, String usage, String droppable) {}

    private static long remaining(List<String> membership, Path mount, String controller, Files v2,
            Files v1) {
        String v1Mark = ":" + controller + ":";
        long remaining = Long.MAX_VALUE;
        for (String line : membership) {
            if (line.startsWith(V2)) {
                remaining = Math.min(remaining,
                        upwards(mount, line.substring(V2.length()), v2));
            } else if (line.contains(v1Mark)) {
                remaining = Math.min(remaining, upwards(mount.resolve(controller),
                        line.substring(line.indexOf(v1Mark) + v1Mark.length()), v1));
            }
        }
        return remaining;
    }

    /**
     * Visits all groups from the process's own upwards. Without a group namespace the path may not
     * exist below the mount; then only its parents do.
     */
    private static long upwards(Path mount, String path, Files files) {
        long remaining = Long.MAX_VALUE;
        Path root = mount.normalize();
        @Nullable
        Path group = root.resolve(path.substring(1)).normalize();
        while (group != null && group.startsWith(root)) {
            long limit = number(group.resolve(files.limit));
            if (limit < Long.MAX_VALUE) {
                long dropped = ProcFields.read(group.resolve("memory.stat"))
                        .number(files.droppable, 0);
                long used = files.usage.isEmpty() ? 0 : number(group.resolve(files.usage));
                remaining = Math.min(remaining,
                        Math.max(0, limit - Math.max(0, used - dropped)));
            }
            group = group.getParent();
        }
        return remaining;
    }

    private static long number(Path file) {
        List<String> lines = ProcFields.lines(file);
        if (lines.isEmpty() || lines.getFirst().equals("max")) {
            return Long.MAX_VALUE;
        }
        return Long.parseLong(lines.getFirst().trim());
    }
}
