package io.railhead.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A tier over disks in memory, and page memory that gives up pages. */
final class TierRig {
    static final int PAGE = VolumeRig.PAGE;
    static final Duration HANGS = Duration.ofMillis(300);

    final Map<String, FaultyDisk> disks = new HashMap<>();
    final PageMemory memory;
    private final LeakCheck leaks;
    private final List<String> paths;
    private final long bytesPerDay;

    TierRig(LeakCheck leaks, long bytesPerDay, String... paths) {
        this.leaks = leaks;
        this.paths = List.of(paths);
        this.bytesPerDay = bytesPerDay;
        this.memory = leaks.watch(PageMemory.open(
                new MemoryConfig(32L << 16, 1 << 16, 0, false), slab -> {}));
        for (String path : paths) {
            disks.put(path, new FaultyDisk(VolumeRig.SIZE));
        }
    }

    DiskTier open() {
        DiskTier tier = begin();
        await(tier::isRecovered);
        return tier;
    }

    /** Opens the tier, and waits for none of its disks. */
    DiskTier begin() {
        DiskConfig config = new DiskConfig(paths, 0, bytesPerDay, 100, PAGE, 8L * PAGE, HANGS);
        DiskTier tier = DiskTier.open(config, new VolumeFactory(config,
                (path, _) -> Objects.requireNonNull(disks.get(path)), VolumeRig::layout),
                System::nanoTime);
        return leaks.closing(tier);
    }

    static VersionName name(int number, long size) {
        return new VersionName("store", "account", "bucket", "key-" + number, "", "\"e\"", "",
                size);
    }

    /** Fills a page, offers it, and lets it go, as an eviction does. */
    boolean offer(DiskTier tier, int number, byte[] bytes) {
        return offer(tier, number, bytes, () -> true);
    }

    boolean offer(DiskTier tier, int number, byte[] bytes, BooleanSupplier current) {
        Page page = Objects.requireNonNull(memory.tryAllocate(new int[]{bytes.length},
                Pool.CACHE)).getFirst();
        page.write(ByteBuffer.wrap(bytes));
        page.publish();
        boolean taken = tier.offer(new Evicted(name(number, bytes.length), page, current));
        page.condemn();
        return taken;
    }

    private record Evicted(VersionName version, Page page,
            BooleanSupplier current) implements EvictedPage {
        @Override
        public String tenant() {
            return "tenant-" + version.bucket();
        }

        @Override
        public long index() {
            return 0;
        }

        @Override
        public int slotBytes() {
            return page.slotBytes();
        }

        @Override
        public @Nullable PageSlice tryLease() {
            var lease = page.tryRetain();
            return lease == null ? null : new PageSlice(lease, 0, 0, page.length());
        }

        @Override
        public int crc32c(PageSlice leased) {
            return page.crc32c().orElseThrow();
        }

        @Override
        public boolean isCurrent() {
            return current.getAsBoolean();
        }
    }

    /** Returns the page's bytes; null if the store would be asked. */
    static byte @Nullable [] read(DiskTier tier, int number, long size) {
        VersionName name = name(number, size);
        int holder = tier.held(name).holder(0);
        if (holder == DiskTier.NOBODY) {
            return null;
        }
        Taken taken = new Taken();
        tier.read(holder, name, 0, 1, taken);
        return taken.bytes();
    }

    /** The receiver of one page. */
    static final class Taken implements PageTaker {
        private final CompletableFuture<Integer> ended = new CompletableFuture<>();
        private byte @Nullable [] page;

        @Override
        public void page(ByteBuffer bytes) {
            assertThat(ended).isNotDone();
            page = new byte[bytes.remaining()];
            bytes.get(page);
        }

        @Override
        public void ended(int pages) {
            assertThat(ended.complete(pages)).as("ended once").isTrue();
        }

        byte @Nullable [] bytes() {
            int pages = ended.orTimeout(20, TimeUnit.SECONDS).join();
            return pages == 0 ? null : page;
        }
    }

    static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("waited in vain");
            }
            Thread.onSpinWait();
        }
    }
}
