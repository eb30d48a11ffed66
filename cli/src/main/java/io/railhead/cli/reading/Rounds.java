package io.railhead.cli.reading;

import com.sun.management.OperatingSystemMXBean;
import io.railhead.cli.local.ProcessCpu;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads all objects in passes, a part at a time on one thread, and measures only the transfers. The
 * memory holds a whole pass, one object behind the other. It is checked and wiped between passes,
 * while no request is sent and no time counts. A check beside a transfer would hide that transfer's
 * time. Wiping excludes that bytes of an earlier pass pass for delivered ones.
 */
final class Rounds {
    private static final double NANOS = 1e9;
    /** No pass begins after this time, whatever the minima: a machine may be slow or emulated. */
    private static final double MOST_SECONDS = 20;
    private static final OperatingSystemMXBean THIS = (OperatingSystemMXBean) ManagementFactory
            .getOperatingSystemMXBean();

    private final Manifest manifest;
    private final Source source;
    private final MemorySegment memory;
    private final @Nullable ProcessCpu gateway;
    private int passes;
    private long requests;
    private long nanos;
    private long cpuNanos;
    private double gatewayCpuSeconds;
    private long[] latencies = new long[64];
    private int reads;

    /**
     * @param memory the memory that {@code source} delivers into, with room for all objects
     * @param gateway null if its process is not local
     */
    Rounds(Manifest manifest, Source source, MemorySegment memory, @Nullable ProcessCpu gateway) {
        this.manifest = manifest;
        this.source = source;
        this.memory = memory;
        this.gateway = gateway;
    }

    ReadingResult run(int leastPasses, double leastSeconds) throws IOException {
        memory.fill((byte) 0); // The kernel finds its pages here, not in the first pass.
        while (passes == 0 || (isWanted(leastPasses, leastSeconds)
                && nanos < MOST_SECONDS * NANOS)) {
            measurePass();
            verify();
            memory.fill((byte) 0);
        }
        long[] sorted = Arrays.copyOf(latencies, reads);
        Arrays.sort(sorted);
        return new ReadingResult(passes, passes * manifest.totalBytes(), requests, nanos / NANOS,
                cpuNanos / NANOS, gatewayCpuSeconds, percentile(sorted, 50) / 1e3,
                percentile(sorted, 99) / 1e3, "");
    }

    private boolean isWanted(int leastPasses, double leastSeconds) {
        return passes < leastPasses || nanos < leastSeconds * NANOS;
    }

    private void measurePass() throws IOException {
        double gatewayBefore = gatewayCpuSeconds();
        long cpuBefore = THIS.getProcessCpuTime();
        long begun = System.nanoTime();
        long at = 0;
        for (Manifest.Entry entry : manifest.entries()) {
            read(entry, at);
            at += entry.bytes();
        }
        nanos += System.nanoTime() - begun;
        cpuNanos += THIS.getProcessCpuTime() - cpuBefore;
        gatewayCpuSeconds += gatewayCpuSeconds() - gatewayBefore;
        passes++;
    }

    private double gatewayCpuSeconds() throws IOException {
        return gateway == null ? 0 : gateway.seconds();
    }

    private void read(Manifest.Entry entry, long at) throws IOException {
        long begun = System.nanoTime();
        for (long first = 0; first < entry.bytes(); first += manifest.partBytes()) {
            int bytes = (int) Math.min(manifest.partBytes(), entry.bytes() - first);
            source.read(entry, first, bytes, at + first);
            requests++;
        }
        if (reads == latencies.length) {
            latencies = Arrays.copyOf(latencies, reads * 2);
        }
        latencies[reads++] = System.nanoTime() - begun;
    }

    private void verify() throws IOException {
        long at = 0;
        for (Manifest.Entry entry : manifest.entries()) {
            long first = 0;
            for (String expected : entry.sha256OfParts()) {
                long bytes = Math.min(manifest.partBytes(), entry.bytes() - first);
                if (!Manifest.sha256(memory.asSlice(at + first, bytes).asByteBuffer())
                        .equals(expected)) {
                    throw new IOException("wrong bytes in " + entry.key() + " at " + first);
                }
                first += bytes;
            }
            at += entry.bytes();
        }
    }

    private static double percentile(long[] sorted, int percent) {
        int rank = (int) Math.ceil(sorted.length * percent / 100.0);
        return sorted[Math.max(0, rank - 1)];
    }
}
