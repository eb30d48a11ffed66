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
    private static final String V1 = ":memory:";

    private ControlGroup() {}

    /**
     * What the tightest of the groups still allows.
     *
     * @param membership the lines of /proc/self/cgroup
     * @param mount /sys/fs/cgroup
     * @return {@link Long#MAX_VALUE} where nothing limits it
     */
    static long remainingBytes(List<String> membership, Path mount) {
        long remaining = Long.MAX_VALUE;
        for (String line : membership) {
            if (line.startsWith(V2)) {
                remaining = Math.min(remaining, upwards(mount, line.substring(V2.length()),
                        "memory.max", "memory.current", "inactive_file"));
            } else if (line.contains(V1)) {
                remaining = Math.min(remaining, upwards(mount.resolve("memory"),
                        line.substring(line.indexOf(V1) + V1.length()), "memory.limit_in_bytes",
                        "memory.usage_in_bytes", "total_inactive_file"));
            }
        }
        return remaining;
    }

    /** Without a group namespace the path may not exist below the mount: then its parents do. */
    private static long upwards(Path mount, String path, String limitFile, String usageFile,
            String droppable) {
        long remaining = Long.MAX_VALUE;
        Path root = mount.normalize();
        @Nullable
        Path group = root.resolve(path.substring(1)).normalize();
        while (group != null && group.startsWith(root)) {
            long limit = number(group.resolve(limitFile));
            if (limit < Long.MAX_VALUE) {
                long dropped = ProcFields.read(group.resolve("memory.stat")).number(droppable, 0);
                long used = number(group.resolve(usageFile));
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
