package io.railhead.benchmarks;

import io.railhead.protocol.token.Dialects;
import io.railhead.protocol.token.PutDecline;
import io.railhead.protocol.token.Recognition;
import io.railhead.protocol.token.Token;
import io.railhead.protocol.token.TokenOperation;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Measures the search for a token among a request's headers, and its parsing. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class TokenBenchmark {
    private static final Dialects DIALECTS = new Dialects(PutDecline.ERROR,
            Dialects.Served.ONLY_AMZ);
    private static final Map<String, String> WITH = Map.of("host", "gateway:9000",
            "x-amz-rdma-token", Token.loopback(0x7f12_3456_0000L, 16 << 20, 7, 4711).format());
    private static final Map<String, String> WITHOUT = Map.of("host", "gateway:9000");

    @Setup
    public void check() {
        if (!(with() instanceof Recognition.Accepted)) {
            throw new IllegalStateException("not a token: " + with());
        }
    }

    @Benchmark
    public Recognition with() {
        return DIALECTS.recognise(TokenOperation.GET, WITH::get);
    }

    @Benchmark
    public Recognition without() {
        return DIALECTS.recognise(TokenOperation.GET, WITHOUT::get);
    }
}
