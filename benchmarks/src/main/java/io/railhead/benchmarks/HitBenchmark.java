package io.railhead.benchmarks;

import io.railhead.cache.Verification;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/** Measures a hit without its delivery: metadata, index, leases, segments, and their release. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH calls the set-up
public class HitBenchmark {
    @Param({"65536", "262144", "1048576"})
    public int pageBytes;

    @Param({"4096", "65536", "16777216"})
    public int rangeBytes;

    /** Measures a hit whose pages are verified first, as {@code cache.verify: always} does. */
    @Param({"false", "true"})
    public boolean verified;

    private HeldObject object;
    private long next;

    @Setup
    public void open() {
        object = new HeldObject(pageBytes, 64L << 20, new Verification(verified, 0));
    }

    @Benchmark
    public void hit(Blackhole blackhole) {
        long from = next;
        next = (from + rangeBytes) % object.bytes();
        object.read(from, from + rangeBytes, slice -> {
            blackhole.consume(slice.segments());
            slice.close();
        });
    }

    @TearDown
    public void close() {
        object.close();
    }
}
