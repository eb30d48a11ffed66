package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import io.railhead.cache.memory.Slab;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Bits that flip in page memory, which the test can write to behind the cache's back. */
final class VerificationTest {
    private static final int RUN = 4 * PAGE;
    private static final int PAGES = 32;
    private static final Verification READS = new Verification(true, 0);
    private static final Verification SCRUB = new Verification(false, 1L << 30);

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final List<Slab> slabs = new ArrayList<>();
    private final PageMemory memory = leaks.watch(PageMemory.open(
            new MemoryConfig((long) PAGES * PAGE, PAGE, 0, false), slabs::add));
    private int fetched;

    private ObjectCache cache(Verification verification) {
        return leaks.closing(new ObjectCache(memory,
                new CacheConfig(2 * RUN, RUN, Duration.ofSeconds(20), 100_000, 0.5,
                        new ReadAhead.Limits(0, 0), Map.of(), verification),
                System::nanoTime));
    }

    private static ObjectVersion version(int number, int length) {
        return new ObjectVersion(CacheRig.id("o" + number), "\"1\"", "", length);
    }

    private static byte[] bytes(ObjectVersion version) {
        return CacheRig.random(version.hashCode(), (int) version.sizeBytes());
    }

    private byte[] read(ObjectCache cache, ObjectVersion version) {
        Collecting sink = new Collecting();
        cache.read(new ReadRequest(version, 0, version.sizeBytes(), Pool.CACHE), this::fetch,
                Runnable::run, sink).start();
        return sink.bytes.toByteArray();
    }

    private void fetch(ObjectVersion version, long offset, long length, PageSource.Sink sink) {
        fetched++;
        sink.write(ByteBuffer.wrap(bytes(version), (int) offset, (int) length).slice());
        sink.complete();
    }

    private static final class Collecting implements RangeReader.Sink {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        @Override
        public void slice(PageSlice ownedSlice) {
            for (ByteBuffer buffer : ownedSlice.buffers()) {
                byte[] copy = new byte[buffer.remaining()];
                buffer.get(copy);
                bytes.writeBytes(copy);
            }
            ownedSlice.close();
        }

        @Override
        public void end() {}

        @Override
        public void failed(FillException cause, long atOffset) {
            throw new AssertionError("failed at " + atOffset, cause);
        }
    }

    /** One bit of one of the bytes that the version's content has, wherever they lie. */
    private void flip(ObjectVersion version, long offset, int bit) {
        MemorySegment content = MemorySegment.ofArray(bytes(version));
        int probe = (int) Math.min(16, version.sizeBytes() - offset);
        MemorySegment wanted = content.asSlice(offset, probe);
        MemorySegment slab = slabs.getFirst().segment();
        for (long at = 0; at + probe <= slab.byteSize(); at++) {
            if (slab.asSlice(at, probe).mismatch(wanted) == -1) {
                byte flipped = (byte) (slab.get(ValueLayout.JAVA_BYTE, at) ^ (1 << bit));
                slab.set(ValueLayout.JAVA_BYTE, at, flipped);
            }
        }
    }

    /** Anywhere in the memory that is used first. */
    private void flip(Random random, long within) {
        long at = random.nextLong(within);
        MemorySegment slab = slabs.getFirst().segment();
        slab.set(ValueLayout.JAVA_BYTE, at,
                (byte) (slab.get(ValueLayout.JAVA_BYTE, at) ^ (1 << random.nextInt(8))));
    }

    @Test
    void ofTenThousandFlipsNoneIsServed() {
        ObjectCache cache = cache(READS);
        Random random = new Random(20261122);
        List<ObjectVersion> versions = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            versions.add(version(i, 4096 - random.nextInt(1000)));
        }
        while (cache.verified().corruptAtRead() < 10_000) {
            for (ObjectVersion version : versions) {
                assertThat(read(cache, version)).isEqualTo(bytes(version));
            }
            flip(random, PAGE);
        }
        assertThat(cache.verified().corruptAtRead()).isEqualTo(fetched - versions.size());
    }

    @Test
    void aPageIsFetchedAnewAndItsNeighboursAreNot() {
        ObjectCache cache = cache(READS);
        ObjectVersion version = version(1, 3 * PAGE + 100);
        read(cache, version);
        flip(version, PAGE + 5, 3);
        assertThat(read(cache, version)).isEqualTo(bytes(version));
        assertThat(fetched).isEqualTo(2);
        assertThat(cache.verified()).isEqualTo(new Verification.Counts(1, 0, 0));
    }

    /** As hits on the native channel are leased. */
    @Test
    void aCorruptPageIsNotLeased() {
        ObjectCache cache = cache(READS);
        ObjectVersion version = version(1, 2 * PAGE);
        read(cache, version);
        flip(version, PAGE, 0);
        @Nullable
        PageSlice[] slices = new PageSlice[2];
        assertThat(cache.tryLease(version, 0, 2 * PAGE, slices)).isEqualTo(-1);
        assertThat(cache.tryLease(version, 0, PAGE, slices)).isEqualTo(1);
        requireNonNull(slices[0]).close();
    }

    @Test
    void whatIsNotVerifiedIsFoundByTheScrubber() {
        ObjectCache cache = cache(SCRUB);
        ObjectVersion version = version(1, 2 * PAGE);
        read(cache, version);
        CacheRig.await(() -> cache.verified().scrubbedBytes() > 4 * PAGE);
        assertThat(cache.verified().corruptAtScrub()).isZero();
        flip(version, 7, 7);
        CacheRig.await(() -> cache.verified().corruptAtScrub() == 1);
        assertThat(cache.holds(version, 0, PAGE)).isFalse();
        assertThat(cache.holds(version, PAGE, 2 * PAGE)).isTrue();
        assertThat(read(cache, version)).isEqualTo(bytes(version));
        assertThat(fetched).isEqualTo(2);
    }

    @Test
    void pinnedPagesAreScrubbedToo() {
        ObjectCache cache = cache(SCRUB);
        assertThat(cache.control()
                .tryPin(
                        new Selection("bucket", "o", Selection.Kind.PREFIX)))
                .isTrue();
        ObjectVersion version = version(1, PAGE);
        read(cache, version);
        assertThat(cache.stats().pinnedBytes()).isEqualTo(PAGE);
        flip(version, 0, 1);
        CacheRig.await(() -> cache.verified().corruptAtScrub() == 1);
        assertThat(cache.stats().pinnedBytes()).isZero();
    }

    /** What is given back while it is looked at belongs to somebody else by then. */
    @Test
    void evictingWhileScrubbingFindsNothingWrong() {
        ObjectCache cache = cache(SCRUB);
        for (int i = 0; cache.verified().scrubbedBytes() < 100L * PAGE; i++) {
            ObjectVersion version = version(i, 1 + i % (2 * PAGE));
            assertThat(read(cache, version)).hasSize((int) version.sizeBytes());
        }
        assertThat(cache.verified().corruptAtScrub()).isZero();
    }
}
