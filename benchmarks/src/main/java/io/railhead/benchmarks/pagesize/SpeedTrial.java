package io.railhead.benchmarks.pagesize;

import com.sun.management.OperatingSystemMXBean;
import io.railhead.benchmarks.HeldObject;
import io.railhead.benchmarks.LoopbackTarget;
import io.railhead.gateway.config.ConfigException;
import io.railhead.rdma.Transfer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

/**
 * Hits of 16 MiB with each page size: looked up and leased only, written over loopback, and over
 * HTTP. All sizes are open at a time and take turns in each round, so that what else the machine
 * does falls on all of them; a figure is the median of its rounds.
 */
final class SpeedTrial {
    private static final int RANGE_BYTES = 16 << 20;
    private static final long OBJECT_BYTES = 128L << 20;
    private static final int WARM_ROUNDS = 5;
    private static final OperatingSystemMXBean PROCESS = ManagementFactory
            .getPlatformMXBean(OperatingSystemMXBean.class);

    /** One way to read a range whole. */
    interface Reading extends AutoCloseable {

        void read(long from) throws IOException;

        @Override
        void close() throws IOException;
    }

    /** A path from the cache to the reader, and how many reads make one turn. */
    private enum Path {
        LEASE("lease only", 200) {
            @Override
            Reading open(int pageBytes) {
                return new Leasing(new HeldObject(pageBytes, OBJECT_BYTES));
            }
        },
        LOOPBACK("loopback", 8) {
            @Override
            Reading open(int pageBytes) throws IOException, ConfigException {
                return new Writing(new HeldObject(pageBytes, OBJECT_BYTES),
                        new LoopbackTarget(RANGE_BYTES));
            }
        },
        HTTP("HTTP", 4) {
            @Override
            Reading open(int pageBytes) throws IOException, ConfigException {
                return HttpReading.open(pageBytes, OBJECT_BYTES, RANGE_BYTES);
            }
        };

        private final String label;
        private final int reads;

        Path(String label, int reads) {
            this.label = label;
            this.reads = reads;
        }

        abstract Reading open(int pageBytes) throws IOException, ConfigException;
    }

    private record Leasing(HeldObject object) implements Reading {

        @Override
        public void read(long from) {
            long[] bytes = {0};
            object.read(from, from + RANGE_BYTES, slice -> {
                slice.segments().forEach(segment -> bytes[0] += segment.byteSize());
                slice.close();
            });
            if (bytes[0] != RANGE_BYTES) {
                throw new IllegalStateException("read " + bytes[0]);
            }
        }

        @Override
        public void close() {
            object.close();
        }
    }

    private record Writing(HeldObject object, LoopbackTarget target) implements Reading {

        @Override
        public void read(long from) {
            Transfer transfer = target.begin(RANGE_BYTES);
            List<CompletableFuture<Void>> writes = new ArrayList<>();
            object.read(from, from + RANGE_BYTES, slice -> writes.add(
                    transfer.write(slice, slice.objectOffset() - from).toCompletableFuture()));
            writes.forEach(CompletableFuture::join);
        }

        @Override
        public void close() throws IOException {
            target.close();
            object.close();
        }
    }

    private SpeedTrial() {}

    /** One page size and what its rounds took, per read. */
    private record Contender(int pageBytes, Reading reading, List<Double> wallMicros,
            List<Double> cpuMicros) {

        void turn(int reads) throws IOException {
            long wall = System.nanoTime();
            long cpu = PROCESS.getProcessCpuTime();
            for (int i = 0; i < reads; i++) {
                reading.read((long) i * RANGE_BYTES % OBJECT_BYTES);
            }
            cpuMicros.add((PROCESS.getProcessCpuTime() - cpu) / 1e3 / reads);
            wallMicros.add((System.nanoTime() - wall) / 1e3 / reads);
        }

        void forget() {
            wallMicros.clear();
            cpuMicros.clear();
        }

        String line(Contender reference) {
            return String.format(Locale.ROOT,
                    "%4d KiB  %8.1f (%.1f to %.1f) %.2f  processor %8.1f %.2f", pageBytes >> 10,
                    quantile(2), quantile(1), quantile(3), quantile(2) / reference.quantile(2),
                    cpu(), cpu() / reference.cpu());
        }

        /** A mean: the kernel counts processor time in steps longer than a turn. */
        private double cpu() {
            return cpuMicros.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
        }

        private double quantile(int quarter) {
            return wallMicros.stream().sorted().toList().get((wallMicros.size() - 1) * quarter / 4);
        }
    }

    static List<String> run(int rounds) throws IOException, ConfigException {
        List<String> lines = new ArrayList<>();
        for (Path path : Path.values()) {
            lines.add(path.label + ", µs per 16 MiB: median (quartiles) ratio to "
                    + (PageSizes.DEFAULT_BYTES >> 10)
                    + " KiB; processor time: mean, ratio");
            List<Contender> contenders = measure(path, rounds);
            Contender reference = contenders.stream()
                    .filter(contender -> contender.pageBytes == PageSizes.DEFAULT_BYTES)
                    .findFirst()
                    .orElseThrow();
            contenders.forEach(contender -> lines.add(contender.line(reference)));
        }
        return lines;
    }

    private static List<Contender> measure(Path path, int rounds)
            throws IOException, ConfigException {
        List<Contender> contenders = new ArrayList<>();
        try {
            for (int pageBytes : PageSizes.ALL) {
                contenders.add(
                        new Contender(pageBytes, path.open(pageBytes),
                                new ArrayList<>(), new ArrayList<>()));
            }
            List<Contender> order = new ArrayList<>(contenders);
            for (int round = -WARM_ROUNDS; round < rounds; round++) {
                if (round == 0) {
                    contenders.forEach(Contender::forget);
                }
                Collections.rotate(order, 1);
                for (Contender contender : order) {
                    contender.turn(path.reads);
                }
            }
        } finally {
            for (Contender contender : contenders) {
                contender.reading.close();
            }
        }
        return contenders;
    }
}
