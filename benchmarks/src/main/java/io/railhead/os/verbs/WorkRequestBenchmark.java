package io.railhead.os.verbs;

import com.ibm.disni.verbs.IbvSendWR;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the encoding of work requests in place, for each of a full post. In this package, since
 * other packages cannot build a chain without a device; no verb is called.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH calls the set-up
public class WorkRequestBenchmark {
    private static final int REQUESTS = 64;
    private static final int ENTRIES = 4;
    private static final int PAGE_BYTES = 256 << 10;
    private static final long LOCAL = 0x7f00_0000_0000L;
    private static final long REMOTE = 0x7e00_0000_0000L;

    private PreparedSends sends;

    @Setup
    public void open() {
        sends = new PreparedSends(REQUESTS, ENTRIES);
    }

    /** Measures a megabyte in four pages. */
    @Benchmark
    @OperationsPerInvocation(REQUESTS)
    public PreparedSends fill() {
        sends.clear();
        for (int i = 0; i < REQUESTS; i++) {
            long at = (long) i * ENTRIES * PAGE_BYTES;
            sends.add(i, IbvSendWR.IBV_WR_RDMA_WRITE, 0).remote(REMOTE + at, 7);
            for (int entry = 0; entry < ENTRIES; entry++) {
                sends.entry(LOCAL + at + (long) entry * PAGE_BYTES, PAGE_BYTES, 9);
            }
        }
        return sends.flags(IbvSendWR.IBV_SEND_SIGNALED);
    }

    @TearDown
    public void close() {
        sends.close();
    }
}
