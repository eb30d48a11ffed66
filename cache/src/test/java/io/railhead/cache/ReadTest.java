package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.RUN;
import static io.railhead.cache.CacheRig.id;
import static io.railhead.cache.CacheRig.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.FillException.Reason;
import io.railhead.cache.MemorySource.Fault;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.PageMemory.Pool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class ReadTest {
    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private static final byte[] BYTES = random(1, 3 * RUN + 5000);

    @Test
    void aColdObjectIsFetchedInAlignedRunsAndThenHit() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(BYTES);
        assertThat(rig.source.fetches()).extracting(MemorySource.Fetch::offset)
                .containsExactly(0L, (long) RUN, 2L * RUN, 3L * RUN);
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(BYTES);
        assertThat(rig.source.fetches()).hasSize(4);
        assertThat(rig.cache.stats().fillBytes()).isEqualTo(BYTES.length);
    }

    @Test
    void aRangeFetchesOnlyItsPages() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        byte[] range = rig.read(version, PAGE + 7, 2 * PAGE + 9).awaitBytes();
        assertThat(range).isEqualTo(Arrays.copyOfRange(BYTES, PAGE + 7, 2 * PAGE + 9));
        assertThat(rig.source.fetches())
                .containsExactly(new MemorySource.Fetch(version, PAGE, 2L * PAGE));
    }

    @Test
    void anEmptyRangeEndsAtOnce() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), new byte[0], "1");
        assertThat(rig.readAll(version).awaitBytes()).isEmpty();
        assertThat(rig.source.fetches()).isEmpty();
    }

    @Test
    void twoHundredReadersOfAColdObjectMoveItOnce() {
        CacheRig rig = CacheRig.of(leaks, 64);
        byte[] bytes = random(2, 8 * RUN);
        ObjectVersion version = rig.source.put(id("herd"), bytes, "1");
        List<Received> herd = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            herd.add(rig.readAll(version));
        }
        for (Received received : herd) {
            assertThat(received.awaitBytes()).isEqualTo(bytes);
        }
        assertThat(rig.source.fetches()).hasSize(8);
        assertThat(rig.cache.stats().fillBytes()).isEqualTo(bytes.length);
    }

    @Test
    void aSlowReaderDelaysNobodyAndStaysInItsWindow() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        Received slow = rig.read(version, 0, BYTES.length, Pool.CACHE, rig.source,
                Received.keeping());
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(BYTES);
        CacheRig.await(() -> slow.kept().size() == 2 * RUN / PAGE);
        assertThat(slow.hasEnded()).isFalse();
        assertThat(rig.memory.stats().leases()).isEqualTo(2 * RUN / PAGE);
        while (!slow.hasEnded()) {
            slow.kept().forEach(slice -> {
                slow.kept().remove(slice);
                slice.close();
            });
        }
        slow.closeKept();
        assertThat(slow.awaitBytes()).isEqualTo(BYTES);
    }

    @Test
    void aCancelledReaderHearsNothingMoreAndItsFillGoesOn() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        rig.source.hold();
        Received cancelled = Received.closing();
        RangeReader reader = rig.start(version, 0, RUN, Pool.CACHE, rig.source, cancelled);
        CacheRig.await(() -> rig.source.fetches().size() == 1);
        reader.cancel();
        Received other = rig.read(version, 0, RUN);
        rig.source.release();
        assertThat(other.awaitBytes()).isEqualTo(Arrays.copyOf(BYTES, RUN));
        assertThat(cancelled.hasEnded()).isFalse();
        assertThat(cancelled.soFar()).isEmpty();
        assertThat(rig.source.fetches()).hasSize(1);
    }

    @Test
    void aRefusedOwnerFailsAloneAndAWaiterTakesOver() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        try (MemorySource refused = new MemorySource().failing(Fault.REFUSED)) {
            refused.put(id("a"), BYTES, "1");
            refused.hold();
            Received owner = rig.read(version, 0, RUN, Pool.CACHE, refused, Received.closing());
            CacheRig.await(() -> refused.fetches().size() == 1);
            Received waiter = rig.read(version, 0, RUN);
            CacheRig.await(() -> rig.cache.stats().pageJoins() == RUN / PAGE);
            refused.release();
            assertThat(waiter.awaitBytes()).isEqualTo(Arrays.copyOf(BYTES, RUN));
            assertThat(reasonOf(owner)).isEqualTo(Reason.REFUSED);
            assertEachIsFetchedOnce(rig, 0L);
        }
    }

    @Test
    void aBodyCutOffIsFetchedAgainOnce() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        rig.source.failing(Fault.BACKEND_FAILED);
        assertThat(rig.read(version, 0, RUN).awaitBytes()).isEqualTo(Arrays.copyOf(BYTES, RUN));
        assertEachIsFetchedOnce(rig, 0L, RUN / 2L);
    }

    /** In one GET, or in more where a reader hears of one page's failure before the next one's. */
    private static void assertEachIsFetchedOnce(CacheRig rig, Long... first) {
        assertThat(rig.source.fetches()).extracting(MemorySource.Fetch::offset)
                .startsWith(first)
                .doesNotHaveDuplicates();
    }

    @Test
    void aBackendThatFailsTwiceFailsTheReaderAtTheRightByte() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        rig.source.failing(Fault.NONE, Fault.THROWS, Fault.THROWS);
        Received received = rig.read(version, 0, 2 * RUN);
        assertThat(reasonOf(received)).isEqualTo(Reason.BACKEND_FAILED);
        assertThat(received.awaitEnd().atOffset()).isEqualTo(RUN);
        assertThat(received.soFar()).isEqualTo(Arrays.copyOf(BYTES, RUN));
    }

    @Test
    void aVersionThatChangesInMidObjectFailsThere() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        assertThat(rig.read(version, 0, RUN).awaitBytes()).hasSize(RUN);
        rig.source.put(id("a"), random(9, BYTES.length), "2");
        Received received = rig.readAll(version);
        assertThat(reasonOf(received)).isEqualTo(Reason.VERSION_CHANGED);
        assertThat(received.awaitEnd().atOffset()).isEqualTo(RUN);
    }

    @Test
    void theLastPageOfATruncatedOrOverlongBodyIsNeverIndexed() {
        for (Fault fault : List.of(Fault.TRUNCATED, Fault.OVERLONG)) {
            CacheRig rig = CacheRig.of(leaks, 64);
            ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
            rig.source.failing(fault, fault);
            assertThat(reasonOf(rig.read(version, 0, PAGE))).isEqualTo(Reason.BACKEND_FAILED);
            assertThat(rig.cache.stats().pages()).isZero();
            assertThat(rig.memory.stats().usedBytes()).isZero();
        }
    }

    @Test
    void moreThanTheMemoryHoldsIsReadThroughIt() {
        CacheRig rig = CacheRig.of(leaks, 16);
        byte[] bytes = random(3, 20 * RUN + 17);
        ObjectVersion version = rig.source.put(id("large"), bytes, "1");
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(bytes);
        assertThat(rig.cache.stats().evicted(EvictionCause.PRESSURE)).isPositive();
    }

    static Reason reasonOf(Received received) {
        FillException cause = received.awaitEnd().cause();
        if (cause == null) {
            throw new AssertionError("the reader did not fail");
        }
        return cause.reason();
    }
}
