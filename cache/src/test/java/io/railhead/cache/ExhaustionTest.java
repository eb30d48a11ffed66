package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.RUN;
import static io.railhead.cache.CacheRig.id;
import static io.railhead.cache.CacheRig.random;
import static io.railhead.cache.ReadTest.reasonOf;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.FillException.Reason;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class ExhaustionTest {
    private static final byte[] BYTES = random(1, RUN);

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private static List<Page> takeAll(CacheRig rig, int pages) {
        int[] lengths = new int[pages];
        Arrays.fill(lengths, PAGE);
        return requireNonNull(rig.memory.tryAllocate(lengths, Pool.CACHE));
    }

    @Test
    void withEverythingTakenAReaderGoesUncached() {
        CacheRig rig = CacheRig.impatient(leaks, 16, 0.25);
        List<Page> taken = takeAll(rig, 12);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        Received received = rig.readAll(version);
        assertThat(reasonOf(received)).isEqualTo(Reason.NO_MEMORY);
        assertThat(received.awaitEnd().atOffset()).isZero();
        assertThat(rig.source.fetches()).isEmpty();
        assertThat(rig.cache.stats().shortages()).isPositive();
        taken.forEach(Page::condemn);
    }

    @Test
    void aReaderThatMayUsesTheReserveAndItsPagesAreNotIndexed() {
        CacheRig rig = CacheRig.impatient(leaks, 16, 0.25);
        List<Page> taken = takeAll(rig, 12);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        Received received = rig.read(version, 0, RUN, Pool.RESERVE, rig.source,
                Received.closing());
        assertThat(received.awaitBytes()).isEqualTo(BYTES);
        assertThat(rig.cache.stats().pages()).isZero();
        taken.forEach(Page::condemn);
    }

    @Test
    void withTheReserveFullTooLandingAndReadingAreDeclined() {
        CacheRig rig = CacheRig.impatient(leaks, 4, 0.25);
        List<Page> taken = takeAll(rig, 3);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        try (PageSlice landed = requireNonNull(rig.cache.land(0, PAGE))) {
            assertThat(landed.length()).isEqualTo(PAGE);
            assertThat(rig.cache.land(0, 1)).isNull();
            Received received = rig.read(version, 0, RUN, Pool.RESERVE, rig.source,
                    Received.closing());
            assertThat(reasonOf(received)).isEqualTo(Reason.NO_MEMORY);
        }
        taken.forEach(Page::condemn);
    }

    @Test
    void aReaderThatWaitsGoesOnWhenMemoryIsFreed() {
        CacheRig rig = CacheRig.of(leaks, 8);
        List<Page> taken = takeAll(rig, 8);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        Received received = rig.readAll(version);
        CacheRig.await(() -> rig.cache.stats().shortages() > 0);
        taken.forEach(Page::condemn);
        assertThat(received.awaitBytes()).isEqualTo(BYTES);
    }

    @Test
    void pagesNobodyLeasesMakeRoomForAFill() {
        CacheRig rig = CacheRig.impatient(leaks, 8, 0);
        ObjectVersion held = rig.source.put(id("held"), BYTES, "1");
        assertThat(rig.readAll(held).awaitBytes()).isEqualTo(BYTES);
        List<Page> taken = takeAll(rig, 4);
        ObjectVersion next = rig.source.put(id("next"), random(2, RUN), "1");
        assertThat(rig.readAll(next).awaitBytes()).hasSize(RUN);
        taken.forEach(Page::condemn);
    }

    /** The window has room and the receiver keeps what it got: only news may make it look again. */
    @Test
    void aReaderShortOfMemoryWithASlowReceiverDoesNotWakeItself() {
        byte[] bytes = random(3, 2 * RUN);
        CacheRig rig = CacheRig.of(leaks, 8);
        List<Page> taken = takeAll(rig, 6);
        ObjectVersion version = rig.source.put(id("a"), bytes, "1");
        Received received = Received.keeping();
        AtomicInteger tasks = new AtomicInteger();
        SerialExecutor loop = new SerialExecutor(ForkJoinPool.commonPool());
        RangeReader reader = rig.cache.read(new ReadRequest(version, 0, 2 * RUN, Pool.CACHE),
                rig.source, task -> {
                    tasks.incrementAndGet();
                    loop.execute(task);
                }, received);
        loop.execute(reader::start);
        try {
            CacheRig.await(() -> received.kept().size() == 2 && rig.cache.stats().shortages() > 0);
            CountDownLatch turn = new CountDownLatch(1);
            loop.execute(turn::countDown);
            CacheRig.await(() -> turn.getCount() == 0);
            assertThat(tasks.get()).isLessThan(20);
            assertThat(rig.cache.stats().shortages()).isLessThan(20);
        } catch (AssertionError e) {
            reader.cancel();
            received.closeKept();
            throw e;
        } finally {
            taken.forEach(Page::condemn);
        }
        received.closeKept();
        assertThat(received.awaitBytes()).isEqualTo(bytes);
        received.closeKept();
    }
}
