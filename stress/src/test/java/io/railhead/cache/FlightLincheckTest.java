package io.railhead.cache;

import io.railhead.cache.FillTable.Fetcher;
import io.railhead.cache.memory.Lease;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.stress.Trials;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/** One fetch for all who miss a page at once: Lincheck's stress mode. */
class FlightLincheckTest {

    @Test
    void whoeverComesFirstFetchesAndNobodyElse() {
        Trials.hold(Reads.class, ReadsModel.class);
    }

    @Test
    void everyReaderIsServedWhateverIsEvicted() {
        Trials.hold(EvictedReads.class, EvictedReadsModel.class);
    }

    private static final class Reader implements FillTable.Seeker {
        private final CountDownLatch told = new CountDownLatch(1);
        private volatile boolean served;

        @Override
        public PageKey key() {
            return Bench.key(0);
        }

        @Override
        public boolean tryHold(Page page) {
            Lease lease = page.tryRetain();
            if (lease == null) {
                return false;
            }
            lease.close();
            served = true;
            told.countDown();
            return true;
        }

        @Override
        public void join(FillClaim fillClaim, Fetcher fetcher) {
            fillClaim.whenSettled(outcome -> {
                boolean _ = outcome instanceof FillClaim.Filled(Page page) && tryHold(page);
                told.countDown();
            });
        }
    }

    /** Reads of one page that nobody evicts. */
    public static class Reads {
        final Bench bench = new Bench();

        /** Whether it fetched. */
        @Operation
        public boolean read() throws InterruptedException {
            boolean fetched = false;
            boolean served = false;
            while (!served) {
                Reader reader = new Reader();
                List<FillClaim> mine = bench.table.claimMissing(List.of(reader), "");
                if (!mine.isEmpty()) {
                    fetched = true;
                    Fill fill = Objects.requireNonNull(bench.table.tryFill(
                            List.of(mine.getFirst()), new int[]{Bench.BYTES}, 0, Pool.CACHE, null));
                    fill.write(ByteBuffer.allocate(Bench.BYTES));
                    fill.complete();
                }
                reader.told.await();
                served = reader.served;
            }
            return fetched;
        }

        @Validate
        public void nothingLeaks() {
            bench.requireNothingLeaked();
        }
    }

    /** What {@link Reads} is. */
    public static class ReadsModel {
        private boolean held;

        public boolean read() {
            boolean fetched = !held;
            held = true;
            return fetched;
        }
    }

    /** Reads of one page that is evicted again and again. */
    public static class EvictedReads {
        private final Reads reads = new Reads();

        @Operation
        public void read() throws InterruptedException {
            boolean _ = reads.read();
        }

        @Operation
        public void evict() {
            reads.bench.index.remove(Bench.key(0), EvictionCause.INVALIDATED);
        }

        @Validate
        public void nothingLeaks() {
            reads.nothingLeaks();
        }
    }

    /** Of {@link EvictedReads} nothing is told but that it ends. */
    public static class EvictedReadsModel {
        public void read() {}

        public void evict() {}
    }
}
