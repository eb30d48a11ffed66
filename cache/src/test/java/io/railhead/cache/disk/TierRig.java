package io.railhead.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.LentMemory;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** A tier over disks in memory, and page memory that gives up pages. */
final class TierRig {
    static final int PAGE = VolumeRig.PAGE;
    static final Duration HANGS = Duration.ofMillis(300);

    final Map<String, FaultyDisk> disks = new HashMap<>();
    /** The time after which a call of a tier that is opened later hangs. */
    Duration hangs = HANGS;
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
        DiskConfig config = new DiskConfig(paths, 0, bytesPerDay, 100, PAGE, 8L * PAGE, hangs);
        DiskTier tier = DiskTier.open(config, new VolumeFactory(config,
                (path, _) -> Objects.requireNonNull(disks.get(path)), VolumeRig::layout),
                System::nanoTime);
        return leaks.closing(tier);
    }

    static VersionName name(int number, long size) {
        return name("bucket", number, size);
    }

    /** Returns an object of the tenant that has this bucket. */
    static VersionName name(String bucket, int number, long size) {
        return new VersionName("store", "account", bucket, "key-" + number, "", "\"e\"", "",
                size);
    }

    /** Fills a page, offers it, and lets it go, as an eviction does. */
    boolean offer(DiskTier tier, int number, byte[] bytes) {
        return offer(tier, number, bytes, () -> true);
    }

    boolean offer(DiskTier tier, int number, byte[] bytes, BooleanSupplier current) {
        return offer(tier, name(number, bytes.length), bytes, current);
    }

    boolean offer(DiskTier tier, VersionName name, byte[] bytes, BooleanSupplier current) {
        return offer(tier, name, 0, bytes, current);
    }

    boolean offer(DiskTier tier, VersionName name, long index, byte[] bytes,
            BooleanSupplier current) {
        Page page = Objects.requireNonNull(memory.tryAllocate(new int[]{bytes.length},
                Pool.CACHE)).getFirst();
        page.write(ByteBuffer.wrap(bytes));
        page.publish();
        boolean taken = tier.offer(new Evicted(name, page, index, current));
        page.condemn();
        return taken;
    }

    /** Returns a page that waits to be written, with a lease of its own. */
    static WaitingPage waiting(Page page, TenantId tenant) {
        EvictedPage evicted = new Evicted(name(1, page.length()), page, 0, () -> true);
        return new WaitingPage(evicted, Objects.requireNonNull(evicted.tryLease()),
                evicted.version().digest(new byte[16]), tenant, 0);
    }

    private record Evicted(VersionName version, Page page, long index,
            BooleanSupplier current) implements EvictedPage {
        @Override
        public String tenant() {
            return "tenant-" + version.bucket();
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
        return read(tier, name(number, size));
    }

    static byte @Nullable [] read(DiskTier tier, VersionName name) {
        DiskTier.Held held = tier.held(name);
        int holder = held.holder(0);
        if (holder == DiskTier.NOBODY) {
            return null;
        }
        Taken taken = new Taken(name.sizeBytes());
        held.read(holder, 0, 1, taken);
        return taken.bytes();
    }

    /** Memory that is lent. */
    record Room(List<MemorySegment> segments, int length,
            Runnable end) implements LentMemory {
        Room(MemorySegment memory, int length, Runnable end) {
            this(List.of(memory), length, end);
        }

        @Override
        public void close() {
            end.run();
        }
    }

    /** The receiver of one page. */
    static final class Taken implements PageTaker {
        private final CompletableFuture<Integer> ended = new CompletableFuture<>();
        private final int length;
        private @Nullable MemorySegment lent;
        private byte @Nullable [] page;

        /** @param length of the page */
        Taken(long length) {
            this.length = (int) length;
        }

        @Override
        public LentMemory room() {
            MemorySegment memory = Arena.ofAuto()
                    .allocate(
                            (long) DiskLayout.unitsOf(length) * DiskLayout.UNIT_BYTES,
                            DiskLayout.UNIT_BYTES)
                    .fill((byte) 'x');
            lent = memory;
            return new Room(memory, length, () -> {});
        }

        @Override
        public void page(int crc32c) {
            assertThat(ended).isNotDone();
            MemorySegment memory = Objects.requireNonNull(lent);
            byte[] bytes = memory.toArray(ValueLayout.JAVA_BYTE);
            CRC32C crc = new CRC32C();
            crc.update(bytes, 0, length);
            assertThat((int) crc.getValue()).isEqualTo(crc32c);
            assertThat(Arrays.copyOfRange(bytes, length, bytes.length))
                    .as("what follows the page")
                    .isEqualTo(new byte[bytes.length - length]);
            page = Arrays.copyOf(bytes, length);
        }

        @Override
        public void hung(int pages) {
            ended(pages);
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
