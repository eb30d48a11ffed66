package io.railhead.gateway.object.writeback;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counters since the start.
 *
 * @param atDisk writes that were acknowledged at the disk
 * @param atStore those under the same rules that the store acknowledged
 * @param discarded objects and open uploads that an administrator has discarded
 */
record WriteBackCounts(LongAdder atDisk, LongAdder atStore, LongAdder writtenBytes,
        LongAdder failedTries, LongAdder waitedTooLong, LongAdder discarded) {

    WriteBackCounts() {
        this(new LongAdder(), new LongAdder(), new LongAdder(), new LongAdder(), new LongAdder(),
                new LongAdder());
    }
}
