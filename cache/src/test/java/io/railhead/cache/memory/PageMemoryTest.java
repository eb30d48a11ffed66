package io.railhead.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.memory.PageMemory.Pool;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class PageMemoryTest {
    private static final int PAGE = 64 << 10;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private PageMemory memory(int pages, double reserve) {
        return leaks.watch(PageMemory.open(config(pages, reserve), slab -> {}));
    }

    private static MemoryConfig config(int pages, double reserve) {
        return new MemoryConfig((long) pages * PAGE, PAGE, reserve, false);
    }

    private static Page page(PageMemory memory, int length) {
        return require(memory.tryAllocate(new int[]{length}, Pool.CACHE)).getFirst();
    }

    private static <T> T require(@Nullable T value) {
        return Objects.requireNonNull(value);
    }

    @Test
    void stretchesAreTheSegmentsAddresses() {
        PageMemory memory = memory(4, 0);
        // Holes of one small slot each, so that a page of several comes in stretches.
        List<Page> small = new ArrayList<>();
        for (int i = 0; i < 4 * PAGE / 4096; i++) {
            small.add(page(memory, 4096));
        }
        for (int i = 0; i < small.size(); i += 2) {
            small.get(i).condemn();
        }
        Page scattered = page(memory, 20_000);
        try (PageSlice slice = new PageSlice(require(scattered.tryRetain()), 0, 1000, 18_000)) {
            List<MemorySegment> segments = slice.segments();
            assertThat(segments).hasSizeGreaterThan(1);
            long[] addresses = new long[10];
            int[] lengths = new int[10];
            assertThat(slice.stretches(addresses, lengths, 1)).isEqualTo(segments.size());
            for (int i = 0; i < segments.size(); i++) {
                assertThat(addresses[i + 1]).isEqualTo(segments.get(i).address());
                assertThat(lengths[i + 1]).isEqualTo((int) segments.get(i).byteSize());
            }
        }
        scattered.condemn();
        for (int i = 1; i < small.size(); i += 2) {
            small.get(i).condemn();
        }
    }

    @Test
    void allPagesAreGivenOrNone() {
        PageMemory memory = memory(4, 0);
        assertThat(memory.tryAllocate(new int[]{PAGE, PAGE, PAGE, PAGE, PAGE}, Pool.CACHE))
                .isNull();
        List<Page> all = require(memory.tryAllocate(new int[]{PAGE, PAGE, PAGE, PAGE}, Pool.CACHE));
        assertThat(memory.tryAllocate(new int[]{1}, Pool.CACHE)).isNull();
        all.forEach(Page::condemn);
        assertThat(memory.stats().freeBytes()).isEqualTo(4 * PAGE);
    }

    @Test
    void smallPagesTakeSmallSlotsAndMergeBack() {
        PageMemory memory = memory(2, 0);
        Page tail = page(memory, 5000);
        assertThat(tail.slotBytes()).isEqualTo(8192);
        Page other = page(memory, PAGE);
        assertThat(memory.tryAllocate(new int[]{PAGE}, Pool.CACHE)).isNull();
        tail.condemn();
        other.condemn();
        List<Page> both = require(memory.tryAllocate(new int[]{PAGE, PAGE}, Pool.CACHE));
        both.forEach(Page::condemn);
    }

    @Test
    void aPageGatheredFromScatteredSlotsReadsInOrder() {
        PageMemory memory = memory(1, 0);
        List<Page> small = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            small.add(page(memory, 4096));
        }
        for (int i = 0; i < 16; i += 2) {
            small.get(i).condemn();
        }
        Page page = page(memory, 7 * 4096 + 100);
        byte[] bytes = new byte[page.length()];
        new Random(1).nextBytes(bytes);
        page.write(ByteBuffer.wrap(bytes, 0, 5000));
        page.write(ByteBuffer.wrap(bytes, 5000, bytes.length - 5000));
        page.publish();
        try (PageSlice slice = new PageSlice(require(page.tryRetain()), 0, 3, bytes.length - 5)) {
            assertThat(slice.segments()).hasSize(8).allMatch(MemorySegment::isReadOnly);
            ByteBuffer read = ByteBuffer.allocate(slice.length());
            slice.buffers().forEach(read::put);
            assertThat(read.flip()).isEqualTo(ByteBuffer.wrap(bytes, 3, bytes.length - 5));
            byte[] copy = new byte[bytes.length];
            slice.copyTo(MemorySegment.ofArray(copy), 1);
            assertThat(ByteBuffer.wrap(copy, 1, slice.length()))
                    .isEqualTo(ByteBuffer.wrap(bytes, 3, slice.length()));
            assertThat(copy[0]).isZero();
            assertThat(copy[bytes.length - 4]).isZero();
        }
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        assertThat(page.crc32c()).hasValue((int) crc.getValue());
        page.condemn();
        for (int i = 1; i < 16; i += 2) {
            small.get(i).condemn();
        }
    }

    @Test
    void theCacheNeverTakesTheReserve() {
        PageMemory memory = memory(4, 0.25);
        assertThat(memory.tryAllocate(new int[]{PAGE, PAGE, PAGE, PAGE}, Pool.CACHE)).isNull();
        List<Page> cached = require(memory.tryAllocate(new int[]{PAGE, PAGE, PAGE}, Pool.CACHE));
        assertThat(memory.tryAllocate(new int[]{1}, Pool.CACHE)).isNull();
        assertThat(memory.stats().reserveFreeBytes()).isEqualTo(PAGE);
        List<Page> reserved = require(memory.tryAllocate(new int[]{PAGE}, Pool.RESERVE));
        assertThat(memory.tryAllocate(new int[]{1}, Pool.RESERVE)).isNull();
        cached.forEach(Page::condemn);
        reserved.forEach(Page::condemn);
    }

    @Test
    void aCondemnedPageIsFreedByItsLastLease() {
        PageMemory memory = memory(1, 0);
        Page page = page(memory, PAGE);
        Lease lease = require(page.tryRetain());
        assertThat(page.condemn()).isTrue();
        assertThat(page.condemn()).isFalse();
        assertThat(page.tryRetain()).isNull();
        assertThat(memory.stats().condemnedBytes()).isEqualTo(PAGE);
        assertThat(memory.tryAllocate(new int[]{PAGE}, Pool.CACHE)).isNull();
        lease.close();
        assertThat(memory.stats().condemnedBytes()).isZero();
        page(memory, PAGE).condemn();
    }

    @Test
    void aSecondCloseThrowsAndFreesNothing() {
        PageMemory memory = memory(1, 0);
        Page page = page(memory, PAGE);
        Lease lease = require(page.tryRetain());
        lease.close();
        assertThatThrownBy(lease::close).isInstanceOf(IllegalStateException.class)
                .hasMessage("lease closed twice");
        assertThat(memory.stats().leases()).isZero();
        assertThat(memory.stats().usedBytes()).isEqualTo(PAGE);
        page.condemn();
    }

    @Test
    void aClosedSliceGivesNoBytes() {
        PageSlice slice = require(memory(2, 0.5).tryLand(0, 10));
        slice.close();
        assertThatThrownBy(slice::segments).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(slice::buffers).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aLandingPageIsWritableUntilItIsPublishedAndFreedByItsLease() {
        PageMemory memory = memory(2, 0.5);
        PageSlice slice = require(memory.tryLand(77, 100));
        assertThat(memory.tryLand(0, PAGE)).isNull();
        slice.segments().getFirst().set(ValueLayout.JAVA_BYTE, 99, (byte) 5);
        slice.lease().page().publish();
        assertThat(slice.segments().getFirst().isReadOnly()).isTrue();
        assertThat(slice.buffers().getFirst().get(99)).isEqualTo((byte) 5);
        assertThat(slice.lease().page().crc32c()).isEmpty();
        slice.close();
        assertThat(memory.stats().usedBytes()).isZero();
    }

    @Test
    void aPageTakesNoMoreThanItsLengthAndIsNotPublishedHalfFull() {
        PageMemory memory = memory(1, 0);
        Page page = page(memory, 10);
        page.write(ByteBuffer.allocate(9));
        assertThatThrownBy(page::publish).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> page.write(ByteBuffer.allocate(2)))
                .isInstanceOf(IllegalArgumentException.class);
        page.condemn();
        assertThatThrownBy(() -> page.write(ByteBuffer.allocate(1)))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aSliceBeyondTheValidLengthIsRefused() {
        PageMemory memory = memory(1, 0);
        Page page = page(memory, 10);
        try (Lease lease = require(page.tryRetain())) {
            assertThatThrownBy(() -> new PageSlice(lease, 0, 4, 7))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        page.condemn();
    }

    @Test
    void memoryUnderALeaseIsNotUnmapped() {
        PageMemory memory = memory(1, 0);
        Page page = page(memory, 10);
        Lease lease = require(page.tryRetain());
        assertThatThrownBy(memory::close).isInstanceOf(IllegalStateException.class)
                .hasMessage("1 leases are still open");
        lease.close();
        page.condemn();
    }

    @Test
    void retainingAndCondemningRaceWithoutLossOrReuse() throws InterruptedException {
        PageMemory memory = memory(4, 0);
        AtomicInteger wrong = new AtomicInteger();
        for (int round = 0; round < 2000; round++) {
            Page page = page(memory, 4096);
            byte mark = (byte) round;
            byte[] bytes = new byte[4096];
            Arrays.fill(bytes, mark);
            page.write(ByteBuffer.wrap(bytes));
            page.publish();
            CountDownLatch go = new CountDownLatch(1);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                threads.add(Thread.ofVirtual().start(() -> {
                    awaitLatch(go);
                    Lease lease = page.tryRetain();
                    if (lease != null) {
                        try (PageSlice slice = new PageSlice(lease, 0, 0, 4096)) {
                            if (slice.buffers().getFirst().get(4095) != mark) {
                                wrong.incrementAndGet();
                            }
                        }
                    }
                }));
            }
            threads.add(Thread.ofVirtual().start(() -> {
                awaitLatch(go);
                page.condemn();
                Page next = page(memory, 4096);
                next.write(ByteBuffer.allocate(4096));
                next.condemn();
            }));
            go.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
        }
        assertThat(wrong).hasValue(0);
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aLongPageLiesInTheGapsBetweenShortOnesWhereItMust() {
        PageMemory memory = leaks.watch(
                PageMemory.open(new MemoryConfig(4L * PAGE, PAGE, 0, false), slab -> {}));
        int small = SlotAllocator.SMALL_BYTES;
        int[] lengths = new int[4 * PAGE / small];
        Arrays.fill(lengths, small);
        List<Page> pages = Objects.requireNonNull(memory.tryAllocate(lengths, Pool.CACHE));
        assertThat(memory.tryGather(new int[]{PAGE}, Pool.CACHE)).isNull();
        for (int i = 0; i < pages.size(); i += 2) {
            pages.get(i).condemn();
        }
        assertThat(memory.tryAllocate(new int[]{PAGE}, Pool.CACHE)).isNull();
        List<Page> gathered = Objects
                .requireNonNull(memory.tryGather(new int[]{PAGE, PAGE}, Pool.CACHE));
        byte[] bytes = new byte[PAGE];
        new Random(5).nextBytes(bytes);
        gathered.getFirst().write(ByteBuffer.wrap(bytes));
        gathered.getFirst().publish();
        try (PageSlice slice = new PageSlice(
                Objects.requireNonNull(gathered.getFirst().tryRetain()), 0, 0,
                PAGE)) {
            assertThat(slice.segments()).hasSize(PAGE / small);
            ByteBuffer read = ByteBuffer.allocate(PAGE);
            slice.buffers().forEach(read::put);
            assertThat(read.array()).isEqualTo(bytes);
        }
        assertThat(memory.tryGather(new int[]{small}, Pool.CACHE)).isNull();
        gathered.forEach(Page::condemn);
        for (int i = 1; i < pages.size(); i += 2) {
            pages.get(i).condemn();
        }
    }
}
