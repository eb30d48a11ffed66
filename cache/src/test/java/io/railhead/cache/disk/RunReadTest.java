package io.railhead.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.disk.DiskIndex.Place;
import io.railhead.cache.memory.LentMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class RunReadTest {
    private static final VersionName.Digest VERSION = TierRig.name(1, 100).digest(new byte[32]);

    private final AtomicLong now = new AtomicLong();
    private final List<Integer> ends = new ArrayList<>();
    private final List<Integer> hangs = new ArrayList<>();
    private final AtomicInteger lent = new AtomicInteger();
    private final MemorySegment own = Arena.ofAuto().allocate(4096);

    private RunRead run(LongSupplier clock) {
        return new RunRead(VERSION, 0, 2, new PageTaker() {
            @Override
            public LentMemory room() {
                lent.incrementAndGet();
                return new TierRig.Room(own, 100, lent::decrementAndGet);
            }

            @Override
            public void page(int crc32c) {
                assertThat(lent.get()).as("lent while it is taken").isZero();
            }

            @Override
            public void ended(int pages) {
                ends.add(pages);
            }

            @Override
            public void hung(int pages) {
                assertThat(lent.get()).as("lent while the disk has it").isEqualTo(1);
                hangs.add(pages);
            }
        }, clock);
    }

    private interface Look extends RunRead.Disk {
        @Override
        default @Nullable Place find(VersionName.Digest version, PageIdentity identity) {
            return new Place(0, 100, 0, 1);
        }
    }

    @Test
    void aReadThatThrowsIsEnded() {
        RunRead read = run(now::get);
        Look disk = (identity, place, into) -> {
            throw new IllegalStateException("the memory is gone");
        };
        assertThatThrownBy(() -> read.read(disk)).isInstanceOf(IllegalStateException.class);
        assertThat(ends).containsExactly(0);
    }

    @Test
    void aReadThatHangsIsEndedOnce() {
        RunRead read = run(now::get);
        Look disk = (identity, place, into) -> {
            now.set(11);
            assertThat(read.endIfLate(now.get(), 10)).isEqualTo(RunRead.Late.READING);
            return true;
        };
        read.read(disk);
        assertThat(hangs).containsExactly(0);
        assertThat(ends).isEmpty();
        assertThat(lent.get()).isZero();
    }

    @Test
    void aReadThatNobodyHasBegunIsEndedAndNotBegunAnyMore() {
        RunRead read = run(now::get);
        now.set(11);
        assertThat(read.endIfLate(now.get(), 10)).isEqualTo(RunRead.Late.WAITING);
        read.read((Look) (identity, place, into) -> {
            throw new AssertionError("it was read");
        });
        assertThat(ends).containsExactly(0);
    }

    @Test
    void theWatchLeavesAReadAloneThatIsWithItsTaker() {
        RunRead[] read = new RunRead[1];
        // The disk takes no time, its taker all of it.
        read[0] = run(() -> {
            if (read[0] != null) {
                assertThat(read[0].endIfLate(Long.MAX_VALUE, 10)).isEqualTo(RunRead.Late.NOT);
            }
            return 0;
        });
        RunRead.Disk gone = new RunRead.Disk() {
            @Override
            public @Nullable Place find(VersionName.Digest version, PageIdentity identity) {
                assertThat(read[0].endIfLate(Long.MAX_VALUE, 10)).isEqualTo(RunRead.Late.NOT);
                return new Place(0, 100, 0, 1);
            }

            @Override
            public boolean tryRead(PageIdentity identity, Place place, List<MemorySegment> into) {
                return true;
            }
        };
        read[0].read(gone);
        assertThat(ends).containsExactly(2);
    }

    @Test
    void aPageOfAnotherLengthIsNotRead() {
        RunRead read = run(now::get);
        read.read(new Look() {
            @Override
            public @Nullable Place find(VersionName.Digest version, PageIdentity identity) {
                return new Place(0, 101, 0, 1);
            }

            @Override
            public boolean tryRead(PageIdentity identity, Place place, List<MemorySegment> into) {
                throw new AssertionError("it was read");
            }
        });
        assertThat(ends).containsExactly(0);
        assertThat(lent.get()).isZero();
    }
}
