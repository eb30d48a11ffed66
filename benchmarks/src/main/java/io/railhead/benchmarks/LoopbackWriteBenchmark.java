package io.railhead.benchmarks;

import io.railhead.rdma.Transfer;
import java.io.IOException;
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

/**
 * Measures a write of one cached page into a peer's memory: lookup, lease, token check, copy, wait.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH calls the set-up
public class LoopbackWriteBenchmark {
    @Param({"65536", "131072", "262144", "524288", "1048576"})
    public int pageBytes;

    private HeldObject object;
    private LoopbackTarget target;
    private long next;

    @Setup
    public void open() throws IOException {
        object = new HeldObject(pageBytes, 64L << 20);
        target = new LoopbackTarget(pageBytes);
    }

    @Benchmark
    public void write() {
        long from = next;
        next = (from + pageBytes) % object.bytes();
        Transfer transfer = target.begin(pageBytes);
        object.read(from, from + pageBytes,
                slice -> transfer.write(slice, 0).toCompletableFuture().join());
    }

    @TearDown
    public void close() throws IOException {
        target.close();
        object.close();
    }
}
