package io.railhead.benchmarks.disk;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.OperatingSystemMXBean;
import io.railhead.cache.CacheConfig;
import io.railhead.cache.FillException;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.PageSource;
import io.railhead.cache.RangeReader;
import io.railhead.cache.ReadAhead;
import io.railhead.cache.ReadRequest;
import io.railhead.cache.disk.DiskConfig;
import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Pages that are read at random from a disk into registered memory, with all that belongs to it:
 * claim, read, checksum, index, eviction. Beside them fio's direct reads of the same file, by
 * turns.
 */
public final class Promotions implements AutoCloseable {
    private static final int PAGE = 256 << 10;
    private static final int OBJECT = 8 << 20;
    private static final long MEMORY = 128L << 20;
    /** As many threads of a volume read. */
    private static final int DISK_THREADS = 8;
    private static final long GIB = 1L << 30;
    private static final String USAGE = """
            usage: Promotions FILE [--mib N] [--depth N] [--seconds N] [--rounds N] [--read KIB]
              FILE         the disk tier's file or device; a file is made, and deleted at the end
              --mib N      of pages (2048)
              --readers N  readers at a time (16); the tier has 8 threads that read from the disk
              --seconds N  of each turn (5)
              --rounds N   (5)
              --read KIB   of each read (256); fio has 8 jobs, and reads 256 KiB at a time
            Prints each turn, then medians and the ratios within rounds.""";

    private final Path file;
    private final int objects;
    private final int readers;
    private final int seconds;
    private final int readBytes;
    private final AtomicLong asked = new AtomicLong();
    private final ByteBuffer content = ByteBuffer.allocateDirect(OBJECT);
    private final PageMemory memory;
    private final DiskTier disk;
    private final ObjectCache cache;
    private final OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory
            .getOperatingSystemMXBean();

    private record Turn(double mibPerSecond, double cpuPerGib) {}

    private Promotions(Path file, int mib, int readers, int seconds, int readBytes) {
        this.file = file;
        this.objects = Math.max(1, (int) (((long) mib << 20) / OBJECT));
        this.readers = readers;
        this.seconds = seconds;
        this.readBytes = readBytes;
        byte[] bytes = new byte[OBJECT];
        new Random(1).nextBytes(bytes);
        content.put(bytes).flip();
        this.memory = PageMemory.open(new MemoryConfig(MEMORY, PAGE, 0, false), slab -> {});
        long diskBytes = ((long) mib << 20) * 5 / 4 + (256L << 20);
        this.disk = DiskTier.open(new DiskConfig(List.of(file.toString()),
                diskBytes - diskBytes % DiskConfig.UNIT_BYTES, 0, 1, PAGE, 32L << 20,
                DiskConfig.HANGS), System::nanoTime);
        this.cache = new ObjectCache(memory,
                new CacheConfig(2L * OBJECT, OBJECT, Duration.ofSeconds(30), 1000, 0.5,
                        new ReadAhead.Limits(0, 0)),
                System::nanoTime, new ObjectCache.Lower(disk, id -> "store"));
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length == 0 || arguments[0].startsWith("-")) {
            System.err.println(USAGE);
            System.exit(2);
        }
        Path file = Path.of(arguments[0]);
        int rounds = option(arguments, "--rounds", 5);
        boolean made = Files.notExists(file);
        try (Promotions promotions = new Promotions(file, option(arguments, "--mib", 2048),
                option(arguments, "--readers", 16), option(arguments, "--seconds", 5),
                option(arguments, "--read", 256) << 10)) {
            promotions.write();
            promotions.report(rounds);
        } finally {
            if (made) {
                Files.deleteIfExists(file);
            }
        }
    }

    private static int option(String[] arguments, String name, int otherwise) {
        for (int i = 1; i + 1 < arguments.length; i += 2) {
            if (arguments[i].equals(name)) {
                return Integer.parseInt(arguments[i + 1]);
            }
        }
        return otherwise;
    }

    private ObjectVersion version(int number) {
        return new ObjectVersion(new ObjectId("store", "account", "bucket", "key-" + number, null),
                "\"1\"", "", OBJECT);
    }

    /** A store that has every object at hand, and is not to be asked once they are on disk. */
    private void fetch(ObjectVersion version, long offset, long length, PageSource.Sink sink) {
        asked.addAndGet(length);
        sink.write(content.slice((int) offset, (int) length));
        sink.complete();
    }

    private void read(ObjectVersion version, long from, long length) throws InterruptedException {
        Semaphore ended = new Semaphore(0);
        cache.read(new ReadRequest(version, from, from + length, Pool.CACHE), this::fetch,
                Runnable::run, new RangeReader.Sink() {
                    @Override
                    public void slice(PageSlice ownedSlice) {
                        ownedSlice.close();
                    }

                    @Override
                    public void end() {
                        ended.release();
                    }

                    @Override
                    public void failed(FillException cause, long atOffset) {
                        throw new IllegalStateException("a read failed", cause);
                    }
                }).start();
        ended.acquire();
    }

    /** Reads all objects until the disk has them. */
    private void write() throws InterruptedException {
        while (!disk.isRecovered()) {
            Thread.sleep(10);
        }
        long before;
        do {
            before = asked.get();
            for (int i = 0; i < objects; i++) {
                read(version(i), 0, OBJECT);
                while (disk.stats().queuedBytes() > 0) {
                    Thread.sleep(1);
                }
            }
        } while (asked.get() > before);
        System.out.printf("%d pages of %d KiB on disk%n", disk.stats().pages(), PAGE >> 10);
    }

    private void report(int rounds) throws IOException, InterruptedException {
        List<Turn> ours = new ArrayList<>();
        List<Turn> theirs = new ArrayList<>();
        Turn _ = promote();
        for (int round = 0; round < rounds; round++) {
            ours.add(promote());
            theirs.add(fio());
            System.out.printf("round %d: Railhead %.0f MiB/s, %.3f s/GiB; fio %.0f MiB/s,"
                    + " %.3f s/GiB; ratio %.2f%n", round + 1, ours.getLast().mibPerSecond(),
                    ours.getLast().cpuPerGib(), theirs.getLast().mibPerSecond(),
                    theirs.getLast().cpuPerGib(),
                    ours.getLast().mibPerSecond() / theirs.getLast().mibPerSecond());
        }
        double[] ratios = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            ratios[i] = ours.get(i).mibPerSecond() / theirs.get(i).mibPerSecond();
        }
        System.out.printf("median: %.2f of fio's throughput; CPU %.3f s/GiB with the checksum,"
                + " fio's %.3f without%n", median(ratios),
                median(ours.stream().mapToDouble(Turn::cpuPerGib).toArray()),
                median(theirs.stream().mapToDouble(Turn::cpuPerGib).toArray()));
    }

    private static double median(double[] values) {
        java.util.Arrays.sort(values);
        return values[values.length / 2];
    }

    private Turn promote() throws InterruptedException {
        long stored = asked.get();
        long bytes = disk.stats().readBytes();
        long cpu = process.getProcessCpuTime();
        long begun = System.nanoTime();
        long end = begun + seconds * 1_000_000_000L;
        List<Thread> reading = new ArrayList<>();
        for (int i = 0; i < readers; i++) {
            reading.add(Thread.ofPlatform().start(() -> readUntil(end)));
        }
        for (Thread reader : reading) {
            reader.join();
        }
        double took = (System.nanoTime() - begun) / 1e9;
        double moved = disk.stats().readBytes() - bytes;
        double used = (process.getProcessCpuTime() - cpu) / 1e9;
        if (asked.get() - stored > moved / 100) {
            System.out.println("the store was asked for " + (asked.get() - stored) + " bytes");
        }
        return new Turn(moved / (1 << 20) / took, used / (moved / GIB));
    }

    private void readUntil(long end) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        try {
            while (System.nanoTime() - end < 0) {
                read(version(random.nextInt(objects)),
                        (long) random.nextInt(OBJECT / readBytes) * readBytes, readBytes);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Turn fio() throws IOException, InterruptedException {
        Process fio = new ProcessBuilder("fio", "--name=read", "--filename=" + file,
                "--readonly", "--rw=randread", "--direct=1", "--ioengine=psync", "--thread",
                "--bs=" + PAGE, "--size=" + (long) objects * OBJECT, "--offset=1m",
                "--numjobs=" + DISK_THREADS,
                "--time_based", "--runtime=" + seconds, "--group_reporting", "--norandommap",
                "--output-format=json")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        JsonNode job = new ObjectMapper().readTree(fio.getInputStream()).at("/jobs/0");
        if (fio.waitFor() != 0) {
            throw new IOException("fio failed");
        }
        double bytes = job.at("/read/io_bytes").asDouble();
        double cpu = (job.at("/usr_cpu").asDouble() + job.at("/sys_cpu").asDouble()) / 100
                * job.at("/job_runtime").asDouble() / 1000;
        return new Turn(job.at("/read/bw_bytes").asDouble() / (1 << 20), cpu / (bytes / GIB));
    }

    @Override
    public void close() {
        cache.close();
        disk.close();
        memory.close();
    }
}
