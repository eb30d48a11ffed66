package io.railhead.benchmarks;

import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.memory.PageSlice;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.ThreadParams;

/**
 * Measures the first steps of a hit, each alone: the object's metadata, then one page and its
 * lease.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH calls the set-up
public class LookupBenchmark {
    private static final int PAGE_BYTES = 256 << 10;

    private HeldObject object;

    /** State of one thread. */
    @State(Scope.Thread)
    public static class Leased {
        final @Nullable PageSlice[] slices = new PageSlice[1];
        long offset;

        @Setup
        public void choose(ThreadParams threads) {
            offset = (long) threads.getThreadIndex() * PAGE_BYTES;
        }
    }

    @Setup
    public void open() {
        object = new HeldObject(PAGE_BYTES, 1 << 20);
    }

    @Benchmark
    public ObjectMetadata metadata() {
        return object.metadata();
    }

    @Benchmark
    public void lease(Leased leased) {
        object.lease(0, leased.slices);
    }

    /** Measures two event loops that read the same page. */
    @Benchmark
    @Threads(2)
    public void leaseOfTwo(Leased leased) {
        object.lease(0, leased.slices);
    }

    /** Measures two event loops that read different pages. */
    @Benchmark
    @Threads(2)
    public void leaseOfTwoApart(Leased leased) {
        object.lease(leased.offset, leased.slices);
    }

    /** Measures two event loops that look up one object's metadata. */
    @Benchmark
    @Threads(2)
    public ObjectMetadata metadataOfTwo() {
        return object.metadata();
    }

    @TearDown
    public void close() {
        object.close();
    }
}
