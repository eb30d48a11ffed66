package io.railhead.benchmarks;

import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerCodec;
import io.railhead.protocol.channel.AnswerOrigin;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Measures the answer to a hit on the native channel: built, and encoded as a record. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class AnswerBenchmark {
    private final ByteBuffer message = ByteBuffer.allocateDirect(4096)
            .order(ByteOrder.LITTLE_ENDIAN);
    private int id;

    @Benchmark
    public int delivered() {
        message.clear();
        Answer answer = Answer.delivered(++id, 200, 1 << 20, 1 << 20, 0, 1_700_000_000_000L,
                "\"5d41402abc4b2a76b9719d911017c592\"", "", AnswerOrigin.HIT);
        if (!AnswerCodec.tryEncode(answer, message)) {
            throw new IllegalStateException("no room");
        }
        return message.position();
    }
}
