package io.railhead.benchmarks;

import com.sun.management.ThreadMXBean;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.s3.sigv4.Authentication;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * Compares the verification of a role session's signature with a static key's, by turns in one JVM:
 * the ratio of the medians holds on a noisy machine too. The thread's processor time counts, not
 * the clock's.
 *
 * <pre>
 * java -cp 'benchmarks/target/classes:benchmarks/target/lib/*' io.railhead.benchmarks.SessionCost
 * </pre>
 */
public final class SessionCost {
    private static final int WARM_UP = 100;
    private static final int TURNS = 200;
    private static final int REQUESTS = 2000;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory
            .getThreadMXBean();

    private final long[] nanos = new long[TURNS];
    private final Supplier<Authentication> verification;
    private long bytes;

    private SessionCost(Supplier<Authentication> verification) {
        this.verification = verification;
    }

    public static void main(String[] arguments) throws IOException, ConfigException {
        SignatureBenchmark requests = new SignatureBenchmark();
        requests.open();
        SessionCost key = new SessionCost(requests::staticKey);
        SessionCost session = new SessionCost(requests::session);
        for (int turn = -WARM_UP; turn < TURNS; turn++) {
            key.take(turn);
            session.take(turn);
        }
        requests.close();
        System.out.printf(Locale.ROOT,
                "static key: %.0f ns, %d bytes%nsession: %.0f ns, %d bytes%nratio: %.2f%n",
                key.median(), key.bytes, session.median(), session.bytes,
                session.median() / key.median());
    }

    private void take(int turn) {
        long allocated = THREADS.getCurrentThreadAllocatedBytes();
        long began = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i < REQUESTS; i++) {
            Objects.requireNonNull(verification.get());
        }
        if (turn >= 0) {
            nanos[turn] = THREADS.getCurrentThreadCpuTime() - began;
            bytes = (THREADS.getCurrentThreadAllocatedBytes() - allocated) / REQUESTS;
        }
    }

    private double median() {
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        return (double) sorted[TURNS / 2] / REQUESTS;
    }
}
