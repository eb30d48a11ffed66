package io.railhead.os;

import java.nio.file.Path;
import java.util.List;

/**
 * The memory limits of this process, in bytes.
 *
 * @param availableBytes memory that the kernel can give now without swapping, or the control
 *            group's remaining limit if that is less; without {@link HugePages}
 * @param limitBytes the tightest memory limit of the process's control groups, above which the
 *            kernel kills it; {@link Long#MAX_VALUE} for none
 * @param memlockBytes the limit of locked memory; {@link Long#MAX_VALUE} if unlimited or with
 *            CAP_IPC_LOCK
 */
public record HostLimits(long availableBytes, long limitBytes, long memlockBytes) {
    private static final int CAP_IPC_LOCK = 14;

    /** Limits without a control group. */
    public HostLimits(long availableBytes, long memlockBytes) {
        this(availableBytes, Long.MAX_VALUE, memlockBytes);
    }

    public static HostLimits read() {
        return read(Path.of("/"), Libc.memlockLimit());
    }

    /**
     * Returns the limits of a machine whose /proc and /sys lie below {@code root}.
     *
     * @param memlockLimit the process's limit in bytes; negative if unlimited
     */
    public static HostLimits read(Path root, long memlockLimit) {
        Path proc = root.resolve("proc");
        List<String> membership = ProcFields.lines(proc.resolve("self/cgroup"));
        Path groups = root.resolve("sys/fs/cgroup");
        HostLimits limits = of(ProcFields.read(proc.resolve("meminfo")),
                ControlGroup.remainingBytes(membership, groups),
                ProcFields.read(proc.resolve("self/status")), memlockLimit);
        return new HostLimits(limits.availableBytes, ControlGroup.limitBytes(membership, groups),
                limits.memlockBytes);
    }

    static HostLimits of(ProcFields meminfo, long groupBytes, ProcFields status, long rlimit) {
        long machine = meminfo.number("MemAvailable", 0) * 1024;
        boolean mayLockAll = (status.hex("CapEff") >>> CAP_IPC_LOCK & 1) == 1;
        return new HostLimits(Math.min(machine, groupBytes),
                mayLockAll || rlimit < 0 ? Long.MAX_VALUE : rlimit);
    }
}
