package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.id;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory.Pool;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who goes of what nobody has read yet. */
final class PrefetchBufferTest {
    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final EvictionCounts evictionCounts = new EvictionCounts();
    private final PrefetchBuffer unread = new PrefetchBuffer(evictionCounts);
    private CacheRig rig;
    private ObjectVersion version;

    @BeforeEach
    void open() {
        rig = CacheRig.of(leaks, 20);
        version = rig.source.put(id("a"), new byte[20 * PAGE], "1");
        unread.limit(2L * PAGE);
    }

    private PageKey key(long index) {
        return new PageKey(version, index);
    }

    private void put(long index) {
        Page page = requireNonNull(rig.memory.tryAllocate(new int[]{PAGE}, Pool.CACHE)).getFirst();
        page.write(ByteBuffer.allocate(PAGE));
        page.publish();
        unread.put(key(index), page);
        unread.trim();
    }

    @Test
    void theOldestGo() {
        for (int i = 0; i < 5; i++) {
            put(i);
        }
        assertThat(unread.keys()).containsExactlyInAnyOrder(key(3), key(4));
        assertThat(evictionCounts.byCause()).containsEntry(EvictionCause.PRESSURE, 3L);
        unread.limit(0);
        assertThat(unread.keys()).isEmpty();
    }

    /** However often it was here before. */
    @Test
    void whatCameBackIsNoOlderThanItsReturn() {
        put(1);
        unread.invalidate(key(1));
        put(2);
        put(1);
        put(3);
        assertThat(unread.keys()).containsExactlyInAnyOrder(key(1), key(3));
        put(3);
        assertThat(unread.keys()).as("the same key again").hasSize(2);
        unread.clear();
        assertThat(rig.memory.stats().condemnedBytes()).isZero();
    }

    @Test
    void whatIsTakenOutIsTheTakersToCondemn() {
        put(1);
        Page page = requireNonNull(unread.peek(key(1)));
        assertThat(unread.tryTake(key(1), page)).isTrue();
        assertThat(unread.tryTake(key(1), page)).isFalse();
        assertThat(page.condemn()).isTrue();
        assertThat(unread.peek(key(1))).isNull();
    }
}
