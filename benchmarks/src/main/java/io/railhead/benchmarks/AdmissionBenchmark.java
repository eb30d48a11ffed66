package io.railhead.benchmarks;

import io.prometheus.client.Counter;
import io.railhead.gateway.admission.Admission;
import io.railhead.gateway.admission.Limits;
import io.railhead.gateway.admission.TenantInFlight;
import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.identity.Secret;
import java.util.List;
import java.util.Set;
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
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/** Measures admission of one request: the counters that all event loops write. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH calls the set-up
public class AdmissionBenchmark {
    private static final int BYTES = 4096;

    private Admission admission;
    private Principal principal;

    @Setup
    public void open() {
        admission = new Admission(new Limits(1000, 1 << 30, 1 << 20), () -> false,
                Counter.build("refused", "-").labelNames("reason", "tenant").create(),
                Counter.build("limited", "-").labelNames("tenant", "limit").create(),
                System::nanoTime);
        principal = new Principal("one", "default",
                List.of(new AccessKey("ONE", new Secret("secret"), null)), null, Set.of(), true,
                true, false);
    }

    @Benchmark
    public void request() {
        takeOn();
    }

    /** Measures the cost of two event loops to one another. */
    @Benchmark
    @Threads(2)
    public void requestOfTwo() {
        takeOn();
    }

    private void takeOn() {
        TenantInFlight tenantInFlight = admission.share(principal);
        admission.enter(tenantInFlight, BYTES).close();
    }
}
