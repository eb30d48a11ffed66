package io.railhead.cli.reading;

import io.railhead.cli.local.ProcessCpu;
import io.railhead.client.ObjectName;
import io.railhead.client.Progress;
import io.railhead.client.RailheadClient;
import java.io.IOException;
import java.util.Arrays;

/** Reads all objects, one after the other on one thread, and measures the transfers alone. */
final class Rounds {
    private static final double NANOS = 1e9;
    /** Whatever the minima, no round begins later: a machine may be slow, or emulated. */
    private static final double MOST_SECONDS = 20;

    private final Manifest manifest;
    private final RailheadClient client;
    private final ProcessCpu cpu = ProcessCpu.ofThis();
    private long bytes;
    private long requests;
    private long nanos;
    private long verifyingCpuNanos;
    private long[] latencies = new long[64];
    private int reads;

    Rounds(Manifest manifest, RailheadClient client) {
        this.manifest = manifest;
        this.client = client;
    }

    Measured run(int leastRounds, double leastSeconds) throws IOException {
        double cpuBefore = cpu.seconds();
        for (int round = 0; round == 0 || (isWanted(round, leastRounds, leastSeconds)
                && nanos < MOST_SECONDS * NANOS); round++) {
            for (Manifest.Entry entry : manifest.entries()) {
                read(entry);
            }
        }
        if (!client.declines().isEmpty()) {
            throw new IOException("one-sided delivery was declined: " + client.declines());
        }
        double used = cpu.seconds() - cpuBefore - verifyingCpuNanos / NANOS;
        long[] sorted = Arrays.copyOf(latencies, reads);
        Arrays.sort(sorted);
        return new Measured(bytes, requests, nanos / NANOS, Math.max(0, used),
                percentile(sorted, 50) / 1e3, percentile(sorted, 99) / 1e3, "");
    }

    private boolean isWanted(int round, int leastRounds, double leastSeconds) {
        return round < leastRounds || nanos < leastSeconds * NANOS;
    }

    private void read(Manifest.Entry entry) throws IOException {
        Verifier verifier = new Verifier(entry, manifest.partBytes());
        long start = System.nanoTime();
        client.get(new ObjectName(manifest.bucket(), entry.key()), verifier, Progress.NONE);
        long took = System.nanoTime() - start - verifier.nanos();
        verifier.requireComplete();
        nanos += took;
        bytes += entry.bytes();
        requests += verifier.parts();
        verifyingCpuNanos += verifier.cpuNanos();
        if (reads == latencies.length) {
            latencies = Arrays.copyOf(latencies, reads * 2);
        }
        latencies[reads++] = took;
    }

    private static double percentile(long[] sorted, int percent) {
        int rank = (int) Math.ceil(sorted.length * percent / 100.0);
        return sorted[Math.max(0, rank - 1)];
    }
}
