package io.railhead.cli.bench;

import io.railhead.cli.local.ProcessCpu;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;

/** Processor time of processes, user and system, all their threads. */
record ProcessTime(List<ProcessCpu> processes) {

    static ProcessTime of(List<Long> pids) {
        return new ProcessTime(pids.stream().map(ProcessCpu::of).toList());
    }

    static ProcessTime ofThis() {
        return new ProcessTime(List.of(ProcessCpu.ofThis()));
    }

    /** A process and all that descend from it and live. */
    static List<Long> tree(Process root) {
        return Stream.concat(Stream.of(root.toHandle()), root.descendants())
                .map(ProcessHandle::pid)
                .toList();
    }

    double seconds() throws IOException {
        double sum = 0;
        for (ProcessCpu process : processes) {
            sum += process.seconds();
        }
        return sum;
    }
}
