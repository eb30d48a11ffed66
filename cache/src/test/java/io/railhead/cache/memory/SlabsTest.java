package io.railhead.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.os.HostLimits;
import io.railhead.os.HugePageSize;
import io.railhead.os.HugePages;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How the memory is taken from the machine, part by part, and given back. */
final class SlabsTest {
    private static final int PAGE = 64 << 10;
    private static final HostLimits PLENTY = new HostLimits(1L << 40, 1L << 40);

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private static MemoryConfig config(int pages) {
        return new MemoryConfig((long) pages * PAGE, PAGE, 0, false);
    }

    @Test
    void aSlabIsShownBeforeItsPagesAreGiven() {
        List<Slab> slabs = new ArrayList<>();
        PageMemory memory = leaks.watch(PageMemory.open(config(4), slabs::add));
        assertThat(slabs).singleElement().satisfies(slab -> {
            assertThat(slab.id()).isZero();
            assertThat(slab.segment().byteSize()).isEqualTo(4 * PAGE);
        });
        assertThat(memory.stats().capacityBytes()).isEqualTo(4 * PAGE);
    }

    @Test
    void aLargeMemoryServesWithASmallPartFirst() {
        int first = 64 << 20;
        int pages = first / PAGE + 3;
        List<Slab> slabs = new CopyOnWriteArrayList<>();
        PageMemory memory = leaks.watch(PageMemory.open(config(pages), slabs::add));
        assertThat(slabs.getFirst().segment().byteSize()).isEqualTo(first);
        while (memory.stats().capacityBytes() < (long) pages * PAGE) {
            Thread.onSpinWait();
        }
        assertThat(slabs).hasSize(2);
        assertThat(slabs.get(1).segment().byteSize()).isEqualTo(3 * PAGE);
    }

    @Test
    void moreThanTheMachineHasIsOneLineNamingWhatToSet() {
        MemoryConfig config = new MemoryConfig(64L << 30, 1 << 20, 0.05, true);
        assertThatThrownBy(() -> PageMemory.open(config, slab -> {},
                new HostLimits((long) (21.3 * (1 << 30)), 1L << 40)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "cache.memory: 64GiB is more than the 21.3GiB this machine has"
                                + " free: set ");
        assertThatThrownBy(
                () -> PageMemory.open(config, slab -> {}, new HostLimits(1L << 40, 8L << 20)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("LimitMEMLOCK")
                .hasMessageContaining("67108864 KiB");
    }

    @Test
    void tooFewHugePagesAreOneLineNamingWhatToSet() {
        assertThatThrownBy(() -> MemoryLimits.requireHugePages(4L << 30,
                new HugePages(HugePageSize.MIB_2, 1024, 100, Long.MAX_VALUE)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("cache.huge_pages: cache.memory of 4GiB takes 2048 huge pages of 2MiB,"
                        + " this machine has 100 free: sysctl -w vm.nr_hugepages=2972, or set"
                        + " cache.huge_pages: off");
        assertThatThrownBy(() -> MemoryLimits.requireHugePages(4L << 30,
                new HugePages(HugePageSize.GIB_1, 0, 0, Long.MAX_VALUE)))
                .hasMessageEndingWith("this machine has 0 free: start the kernel with"
                        + " hugepagesz=1G hugepages=4, or set cache.huge_pages: off");
        assertThatThrownBy(() -> MemoryLimits.requireHugePages(4L << 30,
                new HugePages(HugePageSize.GIB_1, 8, 8, 2L << 30)))
                .hasMessageEndingWith("this container may have 2: set the pod's limit"
                        + " hugepages-1Gi to at least 4096Mi, or cache.huge_pages: off");
        MemoryLimits.requireHugePages(4L << 30,
                new HugePages(HugePageSize.GIB_1, 4, 4, 4L << 30));
    }

    /** No machine has as many. */
    @Test
    void tooFewHugePagesOfThisMachineStopTheStart() {
        MemoryConfig config = new MemoryConfig(1L << 46, PAGE, 0, false, HugePageSize.MIB_2);
        assertThatThrownBy(() -> PageMemory.open(config, slab -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("cache.huge_pages: cache.memory of 65536GiB takes");
    }

    @Test
    void hugePagesComeInWholeOnes() {
        assertThatThrownBy(
                () -> new MemoryConfig((2L << 20) + PAGE, PAGE, 0, false, HugePageSize.MIB_2))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("memoryBytes must be a multiple of 2MiB: ");
    }

    @Test
    void laterSlabsJoinInTheBackgroundWhenTheyAreAskedFor() {
        MemoryConfig config = new MemoryConfig((1L << 30) + PAGE, PAGE, 0, false);
        AtomicInteger slabs = new AtomicInteger();
        PageMemory memory = leaks
                .watch(PageMemory.openFirst(config, _ -> slabs.incrementAndGet(), PLENTY));
        assertThat(memory.stats().capacityBytes()).isEqualTo(64L << 20);
        assertThat(slabs).hasValue(1);
        memory.takeRest();
        long end = System.nanoTime() + 60_000_000_000L;
        while (memory.stats().capacityBytes() < config.memoryBytes()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.onSpinWait();
        }
    }

    @Test
    void nothingIsTakenAfterClosing() {
        AtomicInteger slabs = new AtomicInteger();
        PageMemory memory = PageMemory.openFirst(new MemoryConfig(128L << 20, PAGE, 0, false),
                _ -> slabs.incrementAndGet(), PLENTY);
        memory.close();
        memory.takeRest();
        assertThat(slabs).hasValue(1);
    }
}
