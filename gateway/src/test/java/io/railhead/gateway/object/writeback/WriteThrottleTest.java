package io.railhead.gateway.object.writeback;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** The pace of write-back, over a clock and a timer of the test's own. */
class WriteThrottleTest {
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final List<String> sent = new ArrayList<>();
    private final LongAdder yielded = new LongAdder();
    private long nowNanos = -7;
    private int reads;
    private Runnable step = () -> {};
    private Duration pause = Duration.ZERO;

    private WriteThrottle throttle(long bytesPerSecond) {
        return new WriteThrottle(bytesPerSecond, () -> reads, () -> nowNanos, (next, wait) -> {
            step = next;
            pause = wait;
        }, yielded);
    }

    private void send(WriteThrottle throttle, String name, long bytes) {
        throttle.admit(bytes).thenRun(() -> sent.add(name));
    }

    /** Lets the pause pass that was asked for. */
    private void pass() {
        nowNanos += pause.toNanos();
        Runnable due = step;
        step = () -> {};
        due.run();
    }

    @Test
    void withoutARateAndReadsEverythingGoesAtOnce() {
        WriteThrottle throttle = throttle(0);
        send(throttle, "a", 1L << 40);
        send(throttle, "b", 1L << 40);
        assertThat(sent).containsExactly("a", "b");
    }

    @Test
    void theRateIsAnAverageAndTheOrderIsKept() {
        WriteThrottle throttle = throttle(1000);
        send(throttle, "a", 5000);
        send(throttle, "b", 0);
        send(throttle, "c", 1000);
        assertThat(sent).containsExactly("a");
        while (sent.size() < 2) {
            pass();
        }
        assertThat(nowNanos).isBetween(4 * SECOND - 7, 4 * SECOND + SECOND / 100);
        while (sent.size() < 3) {
            pass();
        }
        assertThat(nowNanos).isBetween(4 * SECOND - 7, 5 * SECOND);
        assertThat(sent).containsExactly("a", "b", "c");
    }

    @Test
    void bytesThatWereNotSentDoNotHoldUpTheNext() {
        WriteThrottle throttle = throttle(1000);
        send(throttle, "a", 5_000_000);
        send(throttle, "b", 1000);
        throttle.giveBack(5_000_000);
        pass();
        assertThat(nowNanos).isLessThan(2 * SECOND);
        assertThat(sent).containsExactly("a", "b");
        send(throttle, "c", 1000);
        assertThat(sent).as("no more than was charged").hasSize(2);
    }

    @Test
    void writesGiveWayWhileReadsWait() {
        WriteThrottle throttle = throttle(0);
        reads = 3;
        send(throttle, "a", 10);
        pass();
        pass();
        assertThat(sent).isEmpty();
        assertThat(yielded.sum()).isEqualTo(nowNanos + 7);
        reads = 0;
        pass();
        assertThat(sent).containsExactly("a");
    }

    @Test
    void readsThatNeverEndDoNotKeepWritesFromAStore() {
        WriteThrottle throttle = throttle(0);
        reads = 1;
        send(throttle, "a", 10);
        send(throttle, "b", 10);
        while (nowNanos + 7 < SECOND / 2) {
            pass();
        }
        send(throttle, "c", 10);
        while (sent.isEmpty()) {
            pass();
        }
        assertThat(nowNanos + 7).isEqualTo(WriteThrottle.LONGEST_YIELD.toNanos());
        assertThat(sent).as("those that have waited as long").containsExactly("a", "b");
        while (sent.size() < 3) {
            pass();
        }
        assertThat(nowNanos + 7).isEqualTo(SECOND / 2 + WriteThrottle.LONGEST_YIELD.toNanos());
        assertThat(yielded.sum()).as("of all together").isEqualTo(nowNanos + 7);
    }
}
