package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Half the cache is read again and again, some of it more than the rest, while four times the cache
 * passes through that nobody reads twice: a backup, a checkpoint. All on one thread, so that a seed
 * says what happens.
 */
final class StreamTest {
    private static final int PAGES = 256;
    private static final long CACHE = (long) PAGES * PAGE;
    private static final int RUN = 4 * PAGE;
    private static final byte[] BYTES = new byte[8 * PAGE];

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final PageMemory memory = leaks.watch(PageMemory.open(
            new MemoryConfig(CACHE, PAGE, 0.05, false), slab -> {}));
    private final ObjectCache cache = leaks.closing(new ObjectCache(memory,
            new CacheConfig(2 * RUN, RUN, Duration.ofSeconds(20), 100_000, 0.5,
                    new ReadAhead.Limits(8 * RUN, 16 * RUN)),
            System::nanoTime));
    private int fetched;

    /** How bytes come that nobody asks for again. */
    enum Stream {
        /** Whole objects, as a backup reads them. */
        READ,
        /** Objects bit by bit, with read-ahead. */
        READ_IN_BITS,
        /** Uploads that are kept once the store has confirmed them. */
        UPLOADED
    }

    private ObjectVersion learn(String key, int length) {
        ObjectId id = CacheRig.id(key);
        ObjectVersion version = new ObjectVersion(id, "\"1\"", "", length);
        ObjectMetadata metadata = new ObjectMetadata(version, Map.of("etag", "\"1\""),
                System.nanoTime(), cache.writes().epoch(id));
        assertThat(cache.learn(metadata)).isTrue();
        return version;
    }

    private void fetch(ObjectVersion version, long offset, long length, PageSource.Sink sink) {
        fetched++;
        sink.write(ByteBuffer.wrap(BYTES, 0, (int) length));
        sink.complete();
    }

    /** Whether all of it was held. */
    private boolean read(ObjectVersion version, long from, long to) {
        int before = fetched;
        Closing sink = new Closing();
        cache.read(new ReadRequest(version, from, to, Pool.CACHE), this::fetch, Runnable::run, sink)
                .start();
        assertThat(sink.ended).isTrue();
        return fetched == before;
    }

    private void pass(Stream stream, ObjectVersion version) {
        int length = (int) version.sizeBytes();
        switch (stream) {
            case READ -> read(version, 0, length);
            case READ_IN_BITS -> {
                int bit = Math.min(length, PAGE / 4);
                for (int from = 0; from < length; from += bit) {
                    int to = Math.min(length, from + bit);
                    cache.readAhead()
                            .read(version, from, to,
                                    new ReadAhead.Reader("backup", "tenant"), this::fetch);
                    read(version, from, to);
                }
            }
            case UPLOADED -> {
                StagedUpload staged = requireNonNull(cache.tryStage(length, ""));
                staged.write(ByteBuffer.wrap(BYTES, 0, length));
                assertThat(cache.keep(requireNonNull(cache.find(version.object())), staged))
                        .isTrue();
            }
        }
    }

    /** Objects, a few of which are read most of the time: the n-th 1 / n as often as the first. */
    private static final class Zipf {
        private final List<ObjectVersion> objects;
        private final double[] sums;

        Zipf(List<ObjectVersion> objects) {
            this.objects = objects;
            this.sums = new double[objects.size()];
            double sum = 0;
            for (int i = 0; i < sums.length; i++) {
                sum += 1.0 / (i + 1);
                sums[i] = sum;
            }
        }

        ObjectVersion next(Random random) {
            double at = random.nextDouble() * sums[sums.length - 1];
            int i = 0;
            while (sums[i] < at) {
                i++;
            }
            return objects.get(i);
        }
    }

    private double hitRatio(Zipf hot, Random random, int reads, IntConsumer between) {
        int hits = 0;
        for (int i = 0; i < reads; i++) {
            ObjectVersion version = hot.next(random);
            hits += read(version, 0, version.sizeBytes()) ? 1 : 0;
            between.accept(i);
        }
        return (double) hits / reads;
    }

    static List<Arguments> streams() {
        List<Arguments> all = new ArrayList<>();
        for (Stream stream : Stream.values()) {
            all.add(Arguments.of(stream, 4096, 8 * PAGE));
            all.add(Arguments.of(stream, 3 * PAGE, 8 * PAGE));
        }
        all.add(Arguments.of(Stream.READ, 3 * PAGE, 4096));
        return all;
    }

    @ParameterizedTest(name = "{0}, hot {1}, passing {2}")
    @MethodSource("streams")
    void whatIsReadAgainStays(Stream stream, int hotBytes, int passingBytes) {
        Random random = new Random(1);
        List<ObjectVersion> objects = new ArrayList<>();
        for (int i = 0; i < CACHE / 2 / hotBytes; i++) {
            objects.add(learn("hot/" + i, hotBytes));
        }
        Zipf hot = new Zipf(objects);
        int reads = 16 * objects.size();
        hitRatio(hot, random, reads, i -> {});
        double before = hitRatio(hot, random, reads, i -> {});
        int passing = (int) (4 * CACHE / passingBytes);
        int[] passed = {0};
        double during = hitRatio(hot, random, reads, i -> {
            while ((long) passed[0] * reads < (long) passing * (i + 1)) {
                pass(stream, learn("passing/" + passed[0]++, passingBytes));
            }
        });
        double after = hitRatio(hot, random, reads, i -> {});
        assertThat(before).isGreaterThan(0.98);
        assertThat(during).isGreaterThan(before - 0.02);
        assertThat(after).isGreaterThan(before - 0.02);
    }
}
