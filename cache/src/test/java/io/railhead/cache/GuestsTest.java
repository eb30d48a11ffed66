package io.railhead.cache;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.LentMemory;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pages that other gateways keep as their own have a small share of the memory. */
class GuestsTest {
    private static final int PAGE = CacheRig.PAGE;
    private static final int RUN = 4 * PAGE;
    private static final int PAGES = 64;
    private static final int GUESTS = 8;
    /** Room that fills keep, and a few pages in flight. */
    private static final int SLACK = 4;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final PageMemory memory = leaks.watch(PageMemory.open(
            new MemoryConfig((long) PAGES * PAGE, PAGE, 0, false), _ -> {}));
    private final ObjectCache cache = leaks.closing(new ObjectCache(memory,
            new CacheConfig(2 * RUN, RUN, Duration.ofSeconds(20), 1000, 0.5, CacheRig.AHEAD,
                    Map.of(), Verification.NONE, (long) GUESTS * PAGE),
            System::nanoTime));

    private static ObjectVersion version(String key, String etag, int pages) {
        return new ObjectVersion(CacheRig.id(key), etag, "", (long) pages * PAGE);
    }

    private static byte[] bytes(ObjectVersion version, long page) {
        return CacheRig.random(version.hashCode() + (int) page, PAGE);
    }

    /** The pages as their owner sends them. */
    private static void fromPeer(ObjectVersion version, long offset, long length,
            PageSource.Sink sink) {
        for (long at = offset; at < offset + length; at += PAGE) {
            byte[] page = bytes(version, at / PAGE);
            CRC32C crc = new CRC32C();
            crc.update(page);
            try (LentMemory lent = requireNonNull(sink.lend())) {
                int from = 0;
                for (MemorySegment each : lent.segments()) {
                    MemorySegment.copy(MemorySegment.ofArray(page), from, each, 0, each.byteSize());
                    from += (int) each.byteSize();
                }
            }
            sink.guest();
            sink.placed((int) crc.getValue());
        }
        sink.complete();
    }

    private static void fromStore(ObjectVersion version, long offset, long length,
            PageSource.Sink sink) {
        for (long at = offset; at < offset + length; at += PAGE) {
            sink.write(ByteBuffer.wrap(bytes(version, at / PAGE)));
        }
        sink.complete();
    }

    private void read(ObjectVersion version, PageSource source) {
        Received received = Received.closing();
        cache.read(new ReadRequest(version, 0, version.sizeBytes(), Pool.CACHE), source,
                Runnable::run, received).start();
        assertThat(received.awaitBytes()).hasSize((int) version.sizeBytes());
    }

    private long held(ObjectVersion version) {
        long held = 0;
        for (long at = 0; at < version.sizeBytes(); at += PAGE) {
            held += cache.holds(version, at, at + PAGE) ? 1 : 0;
        }
        return held;
    }

    @Test
    void guestsHaveAShareAndEvictNothingBeyondIt() {
        ObjectVersion own = version("own", "\"o\"", 40);
        read(own, GuestsTest::fromStore);
        assertThat(held(own)).isEqualTo(40);
        ObjectVersion guest = version("guest", "\"g\"", 60);
        read(guest, GuestsTest::fromPeer);
        assertThat(held(guest)).isBetween(1L, (long) GUESTS);
        assertThat(held(own)).isEqualTo(40);
    }

    @Test
    void theSameBytesFromTheStoreAreNoGuests() {
        ObjectVersion own = version("own", "\"o\"", 40);
        read(own, GuestsTest::fromStore);
        assertThat(held(own)).isGreaterThan(GUESTS + SLACK);
    }

    @Test
    void aChangeEvictsWhatAnotherGatewayHasReadHere() {
        ObjectVersion first = version("k", "\"1\"", 4);
        Received received = Received.closing();
        cache.readForPeer(new ReadRequest(first, 0, first.sizeBytes(), Pool.CACHE),
                GuestsTest::fromStore, Runnable::run, received).start();
        assertThat(held(first)).isEqualTo(4);
        cache.invalidate(first.object(), EvictionCause.INVALIDATED);
        assertThat(held(first)).isZero();
    }

    @Test
    void anotherVersionThatIsReadHereReplacesTheFirst() {
        ObjectVersion first = version("k", "\"1\"", 4);
        ObjectVersion second = version("k", "\"2\"", 4);
        for (ObjectVersion each : new ObjectVersion[]{first, second}) {
            cache.readForPeer(new ReadRequest(each, 0, each.sizeBytes(), Pool.CACHE),
                    GuestsTest::fromStore, Runnable::run, Received.closing()).start();
        }
        assertThat(held(first)).isZero();
        assertThat(held(second)).isEqualTo(4);
    }
}
