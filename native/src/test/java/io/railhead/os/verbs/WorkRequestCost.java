package io.railhead.os.verbs;

import com.ibm.disni.verbs.IbvSendWR;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;

/**
 * What this side alone spends on a write: filling a work request, posting it, polling. The
 * library's functions do nothing. Run by hand:
 *
 * <pre>
 * mvn test-compile -pl native -am
 * java --enable-native-access=ALL-UNNAMED --add-exports java.base/sun.nio.ch=ALL-UNNAMED \
 *     -cp "native/target/test-classes:native/target/classes:$(cat native/target/soft-roce.classpath)" \
 *     io.railhead.os.verbs.WorkRequestCost
 * </pre>
 */
final class WorkRequestCost {
    private static final int ROUNDS = 11;
    private static final int WARM_ROUNDS = 5;
    private static final int WRITES = 5_000_000;

    private WorkRequestCost() {}

    public static void main(String[] arguments) throws Exception {
        var _ = VerbsProvider.install();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (FakeAdapter adapter = FakeAdapter.ofNothing();
                PreparedSends sends = new PreparedSends(1, 1);
                Completions completions = new Completions(32)) {
            Foreign.QueuePair queuePair = adapter.anotherQueuePair();
            Foreign.CompletionQueue queue = adapter.anotherQueue();
            double[] nanos = new double[ROUNDS];
            long allocated = 0;
            for (int round = -WARM_ROUNDS; round < ROUNDS; round++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                long began = System.nanoTime();
                write(sends, completions, queuePair, queue);
                long took = System.nanoTime() - began;
                if (round >= 0) {
                    nanos[round] = (double) took / WRITES;
                    allocated += threads.getCurrentThreadAllocatedBytes() - before;
                }
            }
            Arrays.sort(nanos);
            System.out.printf(Locale.ROOT,
                    "filled, posted and polled: median %.1f ns (%.1f to %.1f), %.4f bytes allocated%n",
                    nanos[ROUNDS / 2], nanos[0], nanos[ROUNDS - 1],
                    (double) allocated / ROUNDS / WRITES);
        }
    }

    private static void write(PreparedSends sends, Completions completions,
            Foreign.QueuePair queuePair, Foreign.CompletionQueue queue) {
        for (int i = 0; i < WRITES; i++) {
            sends.clear()
                    .add(i, IbvSendWR.IBV_WR_RDMA_WRITE, 0)
                    .remote(i, i)
                    .entry(i, 8, i);
            if (sends.post(queuePair) != 1 || completions.poll(queue) != 0) {
                throw new AssertionError("write " + i);
            }
        }
    }
}
