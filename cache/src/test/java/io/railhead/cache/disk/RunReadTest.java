package io.railhead.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.disk.DiskIndex.Place;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class RunReadTest {
    private static final VersionName.Digest VERSION = TierRig.name(1, 100).digest(new byte[32]);

    private final AtomicLong now = new AtomicLong();
    private final List<Integer> ends = new ArrayList<>();
    private final MemorySegment own = Arena.ofAuto().allocate(4096);

    private RunRead run(LongSupplier clock) {
        return new RunRead(VERSION, 0, 2, new PageTaker() {
            @Override
            public void page(ByteBuffer bytes) {}

            @Override
            public void ended(int pages) {
                ends.add(pages);
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
        assertThatThrownBy(() -> read.read(disk, own)).isInstanceOf(IllegalStateException.class);
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
        read.read(disk, own);
        assertThat(ends).containsExactly(0);
    }
}
