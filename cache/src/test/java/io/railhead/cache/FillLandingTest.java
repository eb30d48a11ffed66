package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Bytes that a socket receives straight into pages. */
class FillLandingTest {
    private static final int RUN = 4 * PAGE;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final PageMemory memory = leaks.watch(PageMemory.open(
            new MemoryConfig(64L * PAGE, PAGE, 0.05, false), slab -> {}));
    private final ObjectCache cache = leaks.closing(new ObjectCache(memory,
            new CacheConfig(2 * RUN, RUN, Duration.ofSeconds(20), 1000, 0.5,
                    new ReadAhead.Limits(8 * RUN, 16 * RUN)),
            System::nanoTime));
    private PageSource.@Nullable Sink sink;
    private @Nullable WholeChecksum checksum;

    private PageSource.Sink fill(int bytes) {
        ObjectId id = CacheRig.id("k" + bytes);
        ObjectVersion version = new ObjectVersion(id, "\"1\"", "", bytes);
        assertThat(cache.learn(new ObjectMetadata(version, Map.of("etag", "\"1\""),
                System.nanoTime(), cache.writes().epoch(id)))).isTrue();
        cache.read(new ReadRequest(version, 0, bytes, Pool.CACHE),
                new PageSource() {
                    @Override
                    public void fetch(ObjectVersion wanted, long offset, long length, Sink begun) {
                        sink = begun;
                    }

                    @Override
                    public @Nullable WholeChecksum checksum(ObjectVersion wanted) {
                        return checksum;
                    }
                }, Runnable::run, Received.closing()).start();
        assertThat(sink).isNotNull();
        return sink;
    }

    @Test
    void roomIsTheRestOfThePage() {
        PageSource.Sink begun = fill(PAGE + 100);
        assertThat(begun.room()).extracting(ByteBuffer::remaining).isEqualTo(PAGE);
        begun.landed(PAGE - 10);
        assertThat(begun.room()).extracting(ByteBuffer::remaining).isEqualTo(10);
        begun.landed(10);
        // The last page's slot is longer, and what it held is another object's.
        assertThat(begun.room()).extracting(ByteBuffer::remaining).isEqualTo(100);
        begun.landed(100);
        assertThat(begun.room()).isNull();
        begun.complete();
    }

    /** The store's checksum is compared with bytes that landed, as with those that were copied. */
    @Test
    void landedBytesAreSummed() {
        List<Long> summed = new ArrayList<>();
        checksum = new WholeChecksum() {
            @Override
            public Checksum part() {
                return new CRC32C();
            }

            @Override
            public boolean isOf(long[] sums, long partBytes, long lastBytes) {
                LongStream.of(sums).forEach(summed::add);
                return true;
            }
        };
        PageSource.Sink begun = fill(100);
        byte[] bytes = CacheRig.random(1, 100);
        requireNonNull(begun.room()).put(bytes, 0, 60);
        begun.landed(60);
        begun.write(ByteBuffer.wrap(bytes, 60, 10));
        requireNonNull(begun.room()).put(bytes, 70, 30);
        begun.landed(30);
        begun.complete();
        CRC32C expected = new CRC32C();
        expected.update(bytes);
        assertThat(summed).containsExactly(expected.getValue());
    }

    @Test
    void aFailedFillHasNoRoom() {
        PageSource.Sink begun = fill(PAGE);
        assertThat(begun.room()).isNotNull();
        begun.fail(new FillException(FillException.Reason.NOT_FOUND, "cut", null));
        assertThat(begun.room()).isNull();
        assertThatThrownBy(() -> begun.landed(1)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void moreThanTheRoomCannotLand() {
        PageSource.Sink begun = fill(100);
        assertThatThrownBy(() -> begun.landed(101)).isInstanceOf(IllegalArgumentException.class);
        begun.fail(new FillException(FillException.Reason.NOT_FOUND, "cut", null));
    }
}
