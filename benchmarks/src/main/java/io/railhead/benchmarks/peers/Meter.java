package io.railhead.benchmarks.peers;

import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Recorder;

/** Bytes and latencies of a load. Any thread. */
final class Meter {
    private static final int DIGITS = 3;

    private final LongAdder bytes = new LongAdder();
    private final Recorder latencies = new Recorder(DIGITS);

    /** Notes a request that has ended. */
    void done(long nanos, long count) {
        latencies.recordValue(nanos);
        bytes.add(count);
    }

    long bytes() {
        return bytes.sum();
    }

    Recorder latencies() {
        return latencies;
    }
}
