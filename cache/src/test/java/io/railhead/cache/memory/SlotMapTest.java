package io.railhead.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.SlotMap.Use;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class SlotMapTest {
    private static final int PAGE = 64 << 10;
    private static final int SMALL = SlotAllocator.SMALL_BYTES;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private PageMemory memory(int pages, double reserve) {
        return leaks.watch(PageMemory
                .open(new MemoryConfig((long) pages * PAGE, PAGE, reserve, false), slab -> {}));
    }

    private static Page page(PageMemory memory, int length) {
        return Objects.requireNonNull(memory.tryAllocate(new int[]{length}, Pool.CACHE)).getFirst();
    }

    private static Page ready(PageMemory memory, int length) {
        Page page = page(memory, length);
        page.write(ByteBuffer.allocate(length));
        page.publish();
        return page;
    }

    private static long sum(PageMemory memory, Use use) {
        return memory.map().cells().stream().mapToLong(cell -> cell.used(use)).sum();
    }

    private static long free(PageMemory memory) {
        return memory.map().cells().stream().mapToLong(SlotMap.Cell::free).sum();
    }

    @Test
    void everyStateOfASlotIsToldApart() {
        PageMemory memory = memory(16, 0.25);
        assertThat(free(memory)).isEqualTo(16L * PAGE);
        Page filling = page(memory, PAGE);
        Page held = ready(memory, 5000);
        Page leased = ready(memory, PAGE);
        Page condemned = ready(memory, 4096);
        Lease lease = Objects.requireNonNull(leased.tryRetain());
        Lease last = Objects.requireNonNull(condemned.tryRetain());
        condemned.condemn();
        try (PageSlice landing = Objects.requireNonNull(memory.tryLand(0, 9000))) {
            assertThat(sum(memory, Use.FILLING)).isEqualTo(PAGE);
            assertThat(sum(memory, Use.HELD)).isEqualTo(8192);
            assertThat(sum(memory, Use.LEASED)).isEqualTo(PAGE);
            assertThat(sum(memory, Use.CONDEMNED)).isEqualTo(4096);
            assertThat(sum(memory, Use.RESERVE)).as("%s", landing).isEqualTo(12_288);
            assertThat(free(memory)).isEqualTo(16L * PAGE - memory.stats().usedBytes());
        }
        lease.close();
        last.close();
        assertThat(sum(memory, Use.HELD)).isEqualTo(8192 + PAGE);
        assertThat(sum(memory, Use.CONDEMNED)).isZero();
        List.of(filling, held, leased).forEach(Page::condemn);
        assertThat(free(memory)).isEqualTo(16L * PAGE);
    }

    @Test
    void aLargeMemoryIsShownInFewCells() {
        SlotMap map = SlotMap.of(halfTaken(5000), SMALL);
        assertThat(map.cellBytes()).isEqualTo(32L * SMALL);
        assertThat(map.cells()).hasSize(157);
        assertThat(map.cells().getFirst().used(Use.FILLING)).isEqualTo(32L * SMALL);
        assertThat(map.cells().getLast()).isEqualTo(new SlotMap.Cell(8L * SMALL, Map.of()));
        assertThat(map.cells().stream().mapToLong(SlotMap.Cell::free).sum())
                .isEqualTo(2500L * SMALL);
    }

    /** What is looked at stands for what is not. */
    @Test
    void aVeryLargeMemoryIsSampled() {
        SlotMap map = SlotMap.of(halfTaken(20_000), SMALL);
        assertThat(map.cells()).hasSize(157);
        assertThat(map.cells().stream().mapToLong(SlotMap.Cell::free).sum())
                .isBetween(9_900L * SMALL, 10_100L * SMALL);
    }

    /** Of large slots that are one small slot each. */
    private static SlotAllocator halfTaken(int slots) {
        SlotAllocator allocator = new SlotAllocator(SMALL, 0);
        allocator.join(MemorySegment.ofArray(new byte[slots * SMALL]));
        for (int i = 0; i < slots / 2; i++) {
            assertThat(allocator.tryTake(new int[]{SMALL}, Pool.CACHE)).isNotNull();
        }
        return allocator;
    }

    @Test
    void theMapAgreesWithTheCountsHoweverPagesComeAndGo() {
        long seed = 20_261_122;
        Random random = new Random(seed);
        PageMemory memory = memory(32, 0);
        List<Page> pages = new ArrayList<>();
        for (int round = 0; round < 2000; round++) {
            if (random.nextInt(3) > 0) {
                List<Page> got = memory.tryAllocate(new int[]{1 + random.nextInt(PAGE)},
                        Pool.CACHE);
                if (got != null) {
                    pages.add(got.getFirst());
                }
            } else if (!pages.isEmpty()) {
                pages.remove(random.nextInt(pages.size())).condemn();
            }
            assertThat(sum(memory, Use.FILLING)).as("seed %d round %d", seed, round)
                    .isEqualTo(memory.stats().usedBytes());
        }
        pages.forEach(Page::condemn);
        assertThat(free(memory)).isEqualTo(32L * PAGE);
    }
}
