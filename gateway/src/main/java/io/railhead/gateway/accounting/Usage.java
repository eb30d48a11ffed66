package io.railhead.gateway.accounting;

import java.util.concurrent.atomic.LongAdder;

/** The counters of one tenant in one bucket. Any thread; counting allocates nothing. */
public final class Usage {
    private final LongAdder reads = new LongAdder();
    private final LongAdder writes = new LongAdder();
    private final LongAdder nanos = new LongAdder();
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder servedBytes = new LongAdder();
    private final LongAdder storeReads = new LongAdder();
    private final LongAdder storeWrites = new LongAdder();
    private final LongAdder storeBytes = new LongAdder();

    Usage() {}

    /** Counts a request that has ended well. */
    void ended(Kind kind, long tookNanos) {
        switch (kind) {
            case READ -> reads.increment();
            case WRITE -> writes.increment();
            // Stores ask nothing for a deletion.
            case FREE -> {
                return;
            }
        }
        nanos.add(tookNanos);
    }

    /** Counts a whole hit: its bytes have been handed over. */
    public void hit(long bytes, long tookNanos) {
        reads.increment();
        hits.increment();
        servedBytes.add(bytes);
        nanos.add(tookNanos);
    }

    void read(boolean isHit, long bytes) {
        (isHit ? hits : misses).increment();
        servedBytes.add(bytes);
    }

    void served(long bytes) {
        servedBytes.add(bytes);
    }

    void asked(Kind kind) {
        switch (kind) {
            case READ -> storeReads.increment();
            case WRITE -> storeWrites.increment();
            case FREE -> {
                // Stores ask nothing for a deletion.
            }
        }
    }

    void received(long bytes) {
        storeBytes.add(bytes);
    }

    UsageCounts counts() {
        return new UsageCounts(reads.sum(), writes.sum(), nanos.sum(), hits.sum(), misses.sum(),
                servedBytes.sum(), storeReads.sum(), storeWrites.sum(), storeBytes.sum());
    }
}
