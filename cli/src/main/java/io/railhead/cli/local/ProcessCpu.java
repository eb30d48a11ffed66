package io.railhead.cli.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The processor time of a process, user and system, with all its threads: /proc/PID/stat. */
public final class ProcessCpu {
    /** USER_HZ: a constant of the kernel's interface on every architecture that a JDK runs on. */
    private static final double TICKS_PER_SECOND = 100;

    private final Path stat;

    private ProcessCpu(String process) {
        stat = Path.of("/proc", process, "stat");
    }

    public static ProcessCpu of(long pid) {
        return new ProcessCpu(Long.toString(pid));
    }

    public static ProcessCpu ofThis() {
        return new ProcessCpu("self");
    }

    public double seconds() throws IOException {
        String line = Files.readString(stat);
        // The name in brackets may contain any character; utime and stime are fields 14 and 15.
        String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS_PER_SECOND;
    }
}
