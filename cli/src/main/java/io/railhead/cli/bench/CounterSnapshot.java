package io.railhead.cli.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * All that is counted, at one moment of a turn.
 *
 * @param ended requests, of each of the load's threads
 * @param machineCpu seconds that all processors together have been busy
 */
record CounterSnapshot(long nanos, long bytes, List<Integer> ended, double serverCpu,
        double storeCpu,
        double clientCpu, double machineCpu) {
    private static final Path MACHINE = Path.of("/proc/stat");
    private static final double TICKS_PER_SECOND = 100;
    /** In /proc/stat's first line: user, nice, system, then idle and waiting, irq, softirq. */
    private static final int[] BUSY = {0, 1, 2, 5, 6};

    static CounterSnapshot take(Load load, ProcessTime server, ProcessTime store)
            throws IOException {
        return new CounterSnapshot(System.nanoTime(), load.bytes(),
                load.latencies().stream().map(Latencies::count).toList(), server.seconds(),
                store.seconds(), ProcessTime.ofThis().seconds(), busy(Files.readString(MACHINE)));
    }

    static double busy(String stat) {
        String[] fields = stat.substring(0, stat.indexOf('\n')).strip().split(" +", -1);
        double ticks = 0;
        for (int field : BUSY) {
            ticks += Long.parseLong(fields[field + 1]);
        }
        return ticks / TICKS_PER_SECOND;
    }

    int endedInAll() {
        return ended.stream().mapToInt(Integer::intValue).sum();
    }

    RunResult since(CounterSnapshot before, Load load) {
        double[] sorted = sorted(before, load);
        double seconds = (nanos - before.nanos) / 1e9;
        double server = serverCpu - before.serverCpu;
        double store = storeCpu - before.storeCpu;
        double client = clientCpu - before.clientCpu;
        double others = machineCpu - before.machineCpu - server - store - client;
        return new RunResult(seconds, bytes - before.bytes, sorted.length,
                Latencies.percentile(sorted, 50), Latencies.percentile(sorted, 99), server, store,
                client, Math.max(0, others / seconds), "");
    }

    private double[] sorted(CounterSnapshot before, Load load) {
        double[] all = new double[endedInAll() - before.endedInAll()];
        int at = 0;
        for (int i = 0; i < ended.size(); i++) {
            double[] some = load.latencies().get(i).between(before.ended.get(i), ended.get(i));
            System.arraycopy(some, 0, all, at, some.length);
            at += some.length;
        }
        java.util.Arrays.sort(all);
        return all;
    }
}
