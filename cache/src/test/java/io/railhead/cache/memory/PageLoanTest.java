package io.railhead.cache.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.memory.PageMemory.Pool;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Memory of a page being filled that a disk writes into. */
final class PageLoanTest {
    private static final int LARGE = 64 << 10;
    private static final int LENGTH = 10_000;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final PageMemory memory = leaks.watch(
            PageMemory.open(new MemoryConfig(LARGE, LARGE, 0, false), slab -> {}));

    private Page page() {
        return requireNonNull(memory.tryAllocate(new int[]{LENGTH}, Pool.CACHE)).getFirst();
    }

    private static long bytes(LentMemory lent) {
        return lent.segments().stream().mapToLong(MemorySegment::byteSize).sum();
    }

    @Test
    void itIsWholeAlignedSlotsAndTheChecksumIsTheOneThatIsSaid() {
        Page page = page();
        try (LentMemory lent = page.lend()) {
            assertThat(lent.length()).isEqualTo(LENGTH);
            assertThat(bytes(lent)).isEqualTo(3 * 4096);
            for (MemorySegment segment : lent.segments()) {
                assertThat(segment.address() % 4096).isZero();
                segment.fill((byte) 7);
            }
        }
        page.placed(42);
        page.publish();
        assertThat(page.crc32c()).hasValue(42);
        assertThat(page.isIntact()).as("another checksum").isFalse();
        page.condemn();
    }

    @Test
    void aCondemnedPageKeepsItUntilTheLoanEnds() {
        Page page = page();
        LentMemory lent = page.lend();
        assertThat(page.condemn()).isTrue();
        assertThat(memory.stats().usedBytes()).isEqualTo(3 * 4096);
        assertThat(memory.stats().condemnedBytes()).isEqualTo(3 * 4096);
        Page other = page();
        lent.segments().forEach(segment -> segment.fill((byte) 9));
        other.write(ByteBuffer.allocate(LENGTH));
        other.publish();
        lent.segments().forEach(segment -> segment.fill((byte) 9));
        assertThat(other.isIntact()).isTrue();
        lent.close();
        assertThat(memory.stats().condemnedBytes()).isZero();
        assertThat(memory.stats().usedBytes()).isEqualTo(3 * 4096);
        other.condemn();
    }

    @Test
    void aPageWithBytesIsNotLent() {
        Page page = page();
        page.write(ByteBuffer.allocate(1));
        assertThatThrownBy(page::lend).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> page.placed(1)).isInstanceOf(IllegalStateException.class);
        page.condemn();
    }

    @Test
    void itMayBeFilledBytewiseAfterALoanThatBroughtNothing() {
        Page page = page();
        page.lend().close();
        page.write(ByteBuffer.allocate(LENGTH));
        page.publish();
        assertThat(page.isIntact()).isTrue();
        try (PageSlice slice = new PageSlice(requireNonNull(page.tryRetain()), 0, 0, LENGTH)) {
            assertThat(slice.segments().getFirst().get(JAVA_BYTE, 0)).isZero();
        }
        page.condemn();
    }
}
