package io.railhead.gateway.object.writeback;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counters since the start.
 *
 * @param atDisk writes that were acknowledged at the disk
 * @param atStore those under the same rules that the store acknowledged
 * @param discarded objects and open uploads that an administrator has discarded
 * @param yieldedNanos the time in which writes to stores waited for reads
 * @param overShare writes that the log did not take, since their tenant held its share of it
 */
record WriteBackCounts(LongAdder atDisk, LongAdder atStore, LongAdder writtenBytes,
        LongAdder failedTries, LongAdder waitedTooLong, LongAdder discarded,
        LongAdder yieldedNanos, LongAdder overShare) {

    WriteBackCounts() {
        this(new LongAdder(), new LongAdder(), new LongAdder(), new LongAdder(), new LongAdder(),
                new LongAdder(), new LongAdder(), new LongAdder());
    }
}
