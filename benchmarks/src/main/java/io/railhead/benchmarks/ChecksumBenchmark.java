package io.railhead.benchmarks;

import io.railhead.gateway.s3.body.Crc64Nvme;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Measures checksums of 256 KiB: of a page as it is filled, and of an upload's body. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ChecksumBenchmark {
    private static final int BYTES = 256 << 10;

    private final ByteBuffer direct = ByteBuffer.allocateDirect(BYTES);
    private final ByteBuffer heap = ByteBuffer.allocate(BYTES);

    @Benchmark
    public long crc32cOffHeap() {
        return sum(new CRC32C(), direct);
    }

    @Benchmark
    public long crc64nvmeOnHeap() {
        return sum(new Crc64Nvme(), heap);
    }

    private static long sum(Checksum checksum, ByteBuffer bytes) {
        checksum.update(bytes.duplicate());
        return checksum.getValue();
    }
}
