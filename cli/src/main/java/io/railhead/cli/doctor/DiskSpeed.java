package io.railhead.cli.doctor;

import io.railhead.os.DirectFile;
import io.railhead.os.Mapping;
import io.railhead.os.OsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The speed of a disk past the page cache, in MiB a second, from about a second's work. A device is
 * only read, wherever it is. Beside a file a scratch file is written and read, and removed.
 *
 * @param writes 0 for a device
 */
record DiskSpeed(double reads, double writes) {
    private static final int READ_BYTES = 256 << 10;
    private static final int WRITE_BYTES = 1 << 20;
    private static final int READERS = 8;
    private static final long SCRATCH_BYTES = 64L << 20;
    private static final long READ_NANOS = 500_000_000;

    /** Throws {@link OsException}. */
    static DiskSpeed ofDevice(Path device) {
        try (DirectFile file = DirectFile.openForReads(device.toString())) {
            return new DiskSpeed(reads(file), 0);
        }
    }

    /** Throws {@link OsException}. */
    static DiskSpeed ofFolder(Path folder) throws IOException {
        Path scratch = Files.createTempFile(folder, ".railhead-doctor-", null);
        try (DirectFile file = open(scratch)) {
            double writes = writes(file);
            return new DiskSpeed(reads(file), writes);
        }
    }

    /** Opens the file and takes its name away, so that nothing stays after a kill. */
    private static DirectFile open(Path scratch) throws IOException {
        try {
            return DirectFile.open(scratch.toString(), SCRATCH_BYTES);
        } finally {
            boolean _ = Files.deleteIfExists(scratch);
        }
    }

    /** Fills the whole file, so that all of it can be read. */
    private static double writes(DirectFile file) {
        try (Mapping memory = Mapping.anonymous(WRITE_BYTES)) {
            byte[] content = new byte[WRITE_BYTES];
            // Drives that compress would be too fast with zeros.
            new Random(1).nextBytes(content);
            memory.segment().copyFrom(MemorySegment.ofArray(content));
            long start = System.nanoTime();
            for (long at = 0; at < file.bytes(); at += WRITE_BYTES) {
                file.write(memory.segment(), at);
            }
            file.sync();
            return mibPerSecond(file.bytes(), start);
        }
    }

    private static double reads(DirectFile file) {
        long places = Math.max(1, file.bytes() / READ_BYTES);
        AtomicLong moved = new AtomicLong();
        long start = System.nanoTime();
        try (ExecutorService threads = Executors.newFixedThreadPool(READERS,
                Thread.ofPlatform().daemon().name("doctor-disk-", 0).factory())) {
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                Random random = new Random(i);
                all.add(CompletableFuture.runAsync(
                        () -> read(file, places, random, start + READ_NANOS, moved), threads));
            }
            CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof OsException refusal ? refusal : e;
        }
        return mibPerSecond(moved.get(), start);
    }

    private static void read(DirectFile file, long places, Random random, long endNanos,
            AtomicLong moved) {
        try (Mapping into = Mapping.anonymous(READ_BYTES)) {
            while (System.nanoTime() - endNanos < 0) {
                file.read(into.segment(), random.nextLong(places) * READ_BYTES);
                moved.addAndGet(READ_BYTES);
            }
        }
    }

    private static double mibPerSecond(long bytes, long startNanos) {
        return bytes / (double) (1 << 20) * 1e9 / (System.nanoTime() - startNanos);
    }
}
