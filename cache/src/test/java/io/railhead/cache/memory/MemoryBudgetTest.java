package io.railhead.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.os.HostLimits;
import io.railhead.os.HugePageSize;
import org.junit.jupiter.api.Test;

class MemoryBudgetTest {
    private static final long MIB = 1 << 20;

    private static HostLimits limited(long bytes) {
        return new HostLimits(1L << 40, bytes, 1L << 40);
    }

    /** A container of 400 MB that was told it may have 298 MiB of cache was killed in seconds. */
    @Test
    void heapDirectMemoryAndCodeCountBesideTheCache() {
        MemoryBudget budget = new MemoryBudget(298 * MIB, 0, 96 * MIB, 96 * MIB, 256 * MIB);
        assertThat(budget.excess(limited(400_000_000)))
                .isEqualTo("cache.memory: cache 298MiB + heap 96MiB + direct memory 96MiB + threads"
                        + " and code 256MiB = 746MiB is more than the 381.5MiB that this process's"
                        + " control group may use: set -Xmx and -XX:MaxDirectMemorySize in"
                        + " JDK_JAVA_OPTIONS lower, or give it more memory");
    }

    @Test
    void theAdviceFitsWhereItIsFollowed() {
        long limit = 2048 * MIB;
        MemoryBudget budget = new MemoryBudget(1536 * MIB, 0, 512 * MIB, 512 * MIB, 256 * MIB);
        assertThat(budget.excess(limited(limit))).contains("set cache.memory to at most 665MiB");
        assertThat(new MemoryBudget(665 * MIB, 0, 512 * MIB, 512 * MIB, 256 * MIB)
                .excess(limited(limit))).isNull();
    }

    @Test
    void theIndexOfTheDisksCountsTooAndIsNamed() {
        MemoryBudget budget = new MemoryBudget(512 * MIB, 600 * MIB, 256 * MIB, 256 * MIB,
                256 * MIB);
        assertThat(budget.excess(limited(1500 * MIB))).contains(
                "cache 512MiB + index of the disk tier 600MiB + heap 256MiB",
                "cache.disk.size or -Xmx");
        assertThat(budget.excess(limited(1880 * MIB))).isNull();
    }

    @Test
    void nothingIsTooMuchWhereNothingLimitsIt() {
        assertThat(new MemoryBudget(1L << 40, 0, 1, 1, 1).excess(limited(Long.MAX_VALUE))).isNull();
    }

    @Test
    void reservedHugePagesCountElsewhere() {
        MemoryConfig huge = new MemoryConfig(1L << 30, 1 << 18, 0.05, false,
                HugePageSize.MIB_2);
        assertThat(MemoryBudget.of(huge, 7).cacheBytes()).isZero();
        assertThat(MemoryBudget.of(huge, 7).heapBytes()).isPositive();
        assertThat(MemoryBudget.of(huge, 7).indexBytes()).isEqualTo(7);
    }
}
