package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.disk.HangingDisk;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pages that are evicted for a fill that waits for their memory. */
final class RoomAtOnceTest {
    private static final int PAGES = 32;
    private static final int QUEUED = 4;
    /** Twice what the fill needs. */
    private static final int WANTED = 8;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final PageMemory memory = leaks.watch(PageMemory.open(
            new MemoryConfig((long) PAGES * PAGE, PAGE, 0, false), slab -> {}));
    private final HangingDisk hanging = new HangingDisk(32 << 20);
    private final DiskTier disk = leaks.closing(
            hanging.open(PAGE, (long) QUEUED * PAGE, Duration.ofSeconds(60)));
    private final Writes writes = new Writes(System::nanoTime, Duration.ofSeconds(1), task -> {},
            id -> {}, Peers.NONE);
    private final TenantPartition partition = new TenantPartition(
            new TenantQuota(TenantQuota.NO_QUOTA, 0), new EvictionCounts(),
            new LowerTier(disk, writes, id -> "store", PAGE));

    @BeforeEach
    void fill() {
        CacheRig.await(disk::isRecovered);
        CacheRig.await(() -> memory.stats().freeBytes() == (long) PAGES * PAGE);
        partition.setMaximum((long) PAGES * PAGE);
        for (int i = 0; i < PAGES; i++) {
            Page page = requireNonNull(memory.tryAllocate(new int[]{PAGE}, Pool.CACHE)).getFirst();
            page.write(ByteBuffer.allocate(PAGE));
            page.publish();
            partition.announce(PAGE);
            partition.put(new PageKey(new ObjectVersion(CacheRig.id("key-" + i), "\"1\"", "",
                    PAGE), 0), page);
        }
    }

    @AfterEach
    void goOn() {
        hanging.goOn();
        CacheRig.await(() -> disk.stats().queuedBytes() == 0);
        partition.clear();
    }

    private long freePages() {
        return memory.stats().freeBytes() / PAGE;
    }

    @Test
    void theyAreOfferedToTheDiskAndTheFillDoesNotWaitForIt() {
        hanging.hangWrites();
        partition.evictColdest((long) WANTED * PAGE);
        assertThat(freePages()).as("free at once").isEqualTo(WANTED / 2);
        assertThat(disk.stats().queuedBytes()).isEqualTo((long) QUEUED * PAGE);
        assertThat(memory.stats().condemnedBytes()).isEqualTo((long) QUEUED * PAGE);
        hanging.goOn();
        CacheRig.await(() -> disk.stats().writtenPages() == QUEUED);
        CacheRig.await(() -> freePages() == WANTED);
        assertThat(partition.bytes()).isEqualTo((long) (PAGES - WANTED) * PAGE);
    }

    @Test
    void whileTheQueueIsFullTheyAreDropped() {
        hanging.hangWrites();
        partition.evictColdest((long) WANTED * PAGE);
        long before = freePages();
        partition.evictColdest((long) WANTED * PAGE);
        assertThat(freePages() - before).isEqualTo(WANTED);
        assertThat(disk.stats().queuedBytes()).isEqualTo((long) QUEUED * PAGE);
    }

    @Test
    void thoseThatTheDiskHasAreFreeAtOnceAndNoOthersGo() {
        partition.evictColdest((long) QUEUED * PAGE);
        CacheRig.await(() -> disk.stats().writtenPages() >= QUEUED / 2);
        CacheRig.await(() -> disk.stats().queuedBytes() == 0);
        long before = freePages();
        hanging.hangWrites();
        partition.evictColdest(2 * PAGE);
        assertThat(freePages()).isGreaterThan(before);
    }
}
