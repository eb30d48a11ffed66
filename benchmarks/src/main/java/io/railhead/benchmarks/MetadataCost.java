package io.railhead.benchmarks;

import io.railhead.backend.Headers;
import io.railhead.cache.CacheConfig;
import io.railhead.cache.EmptyPages;
import io.railhead.cache.EvictionCause;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.ReadAhead;
import io.railhead.cache.memory.ImaginaryMemory;
import io.railhead.cache.memory.PageMemory;
import io.railhead.gateway.fill.ObjectHeaders;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Locale;
import java.util.Random;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Measures the heap that each cached object and page costs: used heap after a collection, before
 * and after they are read. Keys, ETags and headers are those of a store, made anew for each object
 * as they are when they come from one; the pages' own memory is imaginary, since it costs no heap.
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -Xmx6g -cp 'benchmarks/target/classes:benchmarks/target/lib/*' \
 *   io.railhead.benchmarks.MetadataCost OBJECTS OBJECT_BYTES PAGE_BYTES [--classes]
 * </pre>
 */
public final class MetadataCost {
    private final int objects;
    private final int objectBytes;
    private final int pageBytes;
    private final Random random = new Random(7);

    private MetadataCost(int objects, int objectBytes, int pageBytes) {
        this.objects = objects;
        this.objectBytes = objectBytes;
        this.pageBytes = pageBytes;
    }

    public static void main(String[] arguments) throws JMException {
        int objects = Integer.parseInt(arguments[0]);
        int objectBytes = Integer.parseInt(arguments[1]);
        int pageBytes = Integer.parseInt(arguments[2]);
        new MetadataCost(objects, objectBytes, pageBytes).measure(System.out,
                arguments.length > 3);
    }

    private void measure(PrintStream out, boolean classes) throws JMException {
        long bytesBefore = usedHeap();
        int pages = Math.ceilDiv(objectBytes, pageBytes);
        // What the index may hold is less than the memory: a sixteenth is for fills.
        long slots = (long) objects * Math.ceilDiv(objectBytes, 4096) * 4096 / 15 * 16 / pageBytes
                + 1;
        PageMemory memory = ImaginaryMemory.open(slots * pageBytes, pageBytes);
        try (ObjectCache cache = new ObjectCache(memory, config(), System::nanoTime)) {
            long empty = usedHeap();
            for (int i = 0; i < objects; i++) {
                fill(cache, i);
            }
            long full = usedHeap();
            out.printf(Locale.ROOT, "%d objects, %d pages, %d evicted%n", cache.stats().objects(),
                    cache.stats().pages(), cache.stats().evicted(EvictionCause.PRESSURE));
            out.printf(Locale.ROOT,
                    "heap: %.1f MiB for %d large slots, %.1f MiB more once all are held:%n",
                    (empty - bytesBefore) / 1048576.0, slots, (full - empty) / 1048576.0);
            double each = (double) (full - bytesBefore) / objects;
            out.printf(Locale.ROOT,
                    "%.0f bytes for each object, slots included, which is %.0f for each of its %d pages%n",
                    each, each / pages, pages);
            if (classes) {
                out.println(histogram());
            }
        }
        memory.close();
    }

    private CacheConfig config() {
        return new CacheConfig(16L << 20, 8L << 20, Duration.ofMillis(100), 2L * objects, 0.5,
                new ReadAhead.Limits(0, 0));
    }

    private void fill(ObjectCache cache, int number) {
        ObjectId id = new ObjectId("store", "account-7", anew("training-data"),
                String.format(Locale.ROOT, "datasets/imagenet-21k/train/n%08d/n%08d_%06d.tar",
                        number / 1000, number / 1000, number % 1000),
                null);
        ObjectMetadata metadata = ObjectHeaders.metadata(id, answer(), objectBytes,
                new ObjectHeaders.Moment(System.nanoTime(), cache.writes().epoch(id)),
                ObjectHeaders.Source.HEAD);
        if (metadata == null || !cache.learn(metadata)) {
            throw new IllegalStateException("not learnt: " + id);
        }
        EmptyPages.fill(cache, metadata.version());
    }

    /** Returns headers like a HEAD's response, without shared strings. */
    private Headers answer() {
        String etag = String.format(Locale.ROOT, "\"%016x%016x\"", random.nextLong(),
                random.nextLong());
        return Headers.builder()
                .add(anew("ETag"), etag)
                .add(anew("Content-Type"), anew("application/x-tar"))
                .add(anew("Content-Length"), Integer.toString(objectBytes))
                .add(anew("Last-Modified"),
                        String.format(Locale.ROOT, "Sat, 21 Nov 2026 %02d:%02d:%02d GMT",
                                random.nextInt(24),
                                random.nextInt(60), random.nextInt(60)))
                .add(anew("Accept-Ranges"), anew("bytes"))
                .add(anew("x-amz-storage-class"), anew("STANDARD"))
                .add(anew("x-amz-server-side-encryption"), anew("AES256"))
                .add(anew("x-amz-checksum-crc64nvme"), Long.toHexString(random.nextLong()))
                .add(anew("x-amz-checksum-type"), anew("FULL_OBJECT"))
                .add(anew("x-amz-meta-mtime"),
                        Long.toString(1_700_000_000 + random.nextInt(1 << 24)))
                .add(anew("x-amz-meta-sha256"), Long.toHexString(random.nextLong())
                        + Long.toHexString(random.nextLong()))
                .add(anew("x-amz-request-id"), Long.toHexString(random.nextLong()))
                .build();
    }

    private static String anew(String text) {
        return new String(text.toCharArray());
    }

    private static long usedHeap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private static String histogram() throws JMException {
        String all = (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcClassHistogram", new Object[]{null},
                        new String[]{String[].class.getName()});
        return all.lines().limit(30).reduce("", (text, line) -> text + line + '\n');
    }
}
