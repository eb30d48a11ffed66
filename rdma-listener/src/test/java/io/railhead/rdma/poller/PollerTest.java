package io.railhead.rdma.poller;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.os.AdaptiveSpin;
import io.railhead.rdma.Awaiting;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class PollerTest {

    /** Completions that a test makes, and a sleep like an adapter's: only armed ones end it. */
    private static final class FakeCompletions implements CompletionHandler {
        final AtomicInteger pending = new AtomicInteger();
        final AtomicInteger handled = new AtomicInteger();
        final AtomicInteger sleeps = new AtomicInteger();
        private final Semaphore events = new Semaphore(0);
        private boolean armed;

        void complete() {
            synchronized (this) {
                pending.incrementAndGet();
                if (armed) {
                    armed = false;
                    events.release();
                }
            }
        }

        @Override
        public int poll() {
            int found = pending.getAndSet(0);
            handled.addAndGet(found);
            return found;
        }

        @Override
        public synchronized void arm() {
            armed = true;
        }

        @Override
        public void sleep(long nanos) {
            sleeps.incrementAndGet();
            try {
                boolean _ = events.tryAcquire(nanos, TimeUnit.NANOSECONDS);
                events.drainPermits();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void wake() {
            events.release();
        }
    }

    private final FakeCompletions completions = new FakeCompletions();
    private final LongAdder idleSpin = new LongAdder();
    private volatile long stillNanos;
    private Poller poller = poller(0);

    /** The time, unless it stands still. */
    private long nanos() {
        long still = stillNanos;
        return still == 0 ? System.nanoTime() : still;
    }

    private Poller poller(long spinNanos) {
        return new Poller("poller-test", completions, new AdaptiveSpin(spinNanos), this::nanos,
                idleSpin::add);
    }

    @AfterEach
    void end() {
        poller.close();
    }

    @Test
    void noMessageIsLostBetweenLookingAndSleeping() {
        poller.start();
        AtomicInteger ran = new AtomicInteger();
        for (int i = 1; i <= 50_000; i++) {
            int expected = i;
            poller.execute(ran::incrementAndGet);
            if (i % 3 == 0) {
                Awaiting.until("the message runs", () -> ran.get() == expected);
            }
        }
        Awaiting.until("all run", () -> ran.get() == 50_000);
    }

    @Test
    void noCompletionIsLostBetweenLookingAndSleeping() {
        poller.start();
        for (int i = 1; i <= 20_000; i++) {
            int expected = i;
            completions.complete();
            Awaiting.until("it is handled", () -> completions.handled.get() == expected);
        }
    }

    @Test
    void anIdlePollerSleepsAndItsSpinningIsCounted() {
        poller = poller(TimeUnit.MILLISECONDS.toNanos(1));
        poller.start();
        Awaiting.until("it sleeps", () -> completions.sleeps.get() == 1);
        assertThat(idleSpin.sum()).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(1));
    }

    /** As the system counts it: what the thread did itself, and all of it after its end. */
    @Test
    void theProcessorTimeOfItsThreadIsKnownAfterItsEndToo() {
        assertThat(poller.cpuNanos()).as("before it starts").isZero();
        poller.start();
        AtomicLong burnt = new AtomicLong();
        poller.execute(() -> {
            long nanos = 0;
            while (nanos < TimeUnit.MILLISECONDS.toNanos(20)) {
                nanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            }
            burnt.set(nanos);
        });
        Awaiting.until("it has worked", () -> burnt.get() > 0);
        long running = poller.cpuNanos();
        assertThat(running).isGreaterThanOrEqualTo(burnt.get());
        poller.close();
        assertThat(poller.cpuNanos()).isGreaterThanOrEqualTo(running);
    }

    @Test
    void deadlinesPassInTheirOrder() {
        poller.start();
        List<String> passed = Collections.synchronizedList(new ArrayList<>());
        poller.execute(() -> {
            stillNanos = System.nanoTime();
            poller.schedule(TimeUnit.MILLISECONDS.toNanos(20), () -> passed.add("later"));
            poller.schedule(TimeUnit.MILLISECONDS.toNanos(1), () -> passed.add("sooner"));
            stillNanos = 0;
        });
        Awaiting.until("both pass", () -> passed.size() == 2);
        assertThat(passed).containsExactly("sooner", "later");
    }

    @Test
    void aFailingMessageEndsNothing() {
        poller.start();
        AtomicInteger ran = new AtomicInteger();
        poller.execute(() -> {
            throw new IllegalStateException("expected by the test");
        });
        poller.execute(ran::incrementAndGet);
        Awaiting.until("the next runs", () -> ran.get() == 1);
    }

    @Test
    void closingRunsWhatIsInTheInbox() {
        poller.start();
        AtomicInteger ran = new AtomicInteger();
        for (int i = 0; i < 1000; i++) {
            poller.execute(ran::incrementAndGet);
        }
        poller.close();
        assertThat(ran.get()).isEqualTo(1000);
        assertThat(poller.isCurrentThread()).isFalse();
    }
}
