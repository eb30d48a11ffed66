package io.railhead.cache;

import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** The table of pages in flight that all samples share, each with a key of its own. */
final class InFlight {
    private static final int PAGE_BYTES = 64 << 10;
    private static final ObjectVersion VERSION = new ObjectVersion(
            new ObjectId("store", "account", "bucket", "key", null), "\"1\"", "", Long.MAX_VALUE);
    private static final AtomicLong NEXT = new AtomicLong();
    private static final PageMemory MEMORY = PageMemory.open(
            new MemoryConfig(64L << 20, PAGE_BYTES, 0, false), slab -> {});

    static final FillTable TABLE = new FillTable(MEMORY,
            new PageIndex(MEMORY, CacheConfig.DEFAULT, new Pins(MEMORY, 0)),
            new Writes(System::nanoTime, Duration.ZERO, task -> {}, id -> {}, Peers.NONE),
            PAGE_BYTES,
            version -> version, version -> {});

    private InFlight() {}

    static PageKey freshKey() {
        return new PageKey(VERSION, NEXT.getAndIncrement());
    }
}
