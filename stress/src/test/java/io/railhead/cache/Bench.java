package io.railhead.cache;

import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PlainMemory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;

/** A cache's middle, over memory of its own. */
final class Bench {
    static final int BYTES = 8;
    static final ObjectVersion VERSION = new ObjectVersion(
            new ObjectId("store", "account", "bucket", "key", null), "\"1\"", "", Long.MAX_VALUE);

    final PageMemory memory = PlainMemory.create();
    final Pins pins = new Pins(memory, 0.5);
    final PageIndex index = new PageIndex(memory, CacheConfig.DEFAULT, pins);
    final FillTable table = new FillTable(memory, index,
            new Writes(System::nanoTime, Duration.ZERO, task -> {}, id -> {}, Peers.NONE),
            PlainMemory.PAGE_BYTES,
            version -> version, version -> {});

    static PageKey key(int index) {
        return new PageKey(VERSION, index);
    }

    Page page() {
        Page page = Objects.requireNonNull(memory.tryAllocate(new int[]{BYTES}, Pool.CACHE))
                .getFirst();
        page.write(ByteBuffer.allocate(BYTES));
        page.publish();
        return page;
    }

    /** Once nothing is kept, nothing is used. */
    void requireNothingLeaked() {
        index.clear();
        if (memory.stats().usedBytes() != 0 || memory.stats().leases() != 0
                || memory.stats().condemnedBytes() != 0 || pins.bytes() != 0) {
            throw new IllegalStateException(memory.stats() + ", pinned " + pins.bytes());
        }
    }
}
