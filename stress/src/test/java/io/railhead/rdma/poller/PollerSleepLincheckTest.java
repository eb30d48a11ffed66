package io.railhead.rdma.poller;

import io.railhead.os.AdaptiveSpin;
import io.railhead.stress.Schedules;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * The poller's sleep: nothing is slept through, in whatever order its thread and others come.
 * Lincheck's model checker; a schedule in which all wait is a failure.
 */
class PollerSleepLincheckTest {

    /** An adapter's: only what completes after it was armed ends a sleep, and nothing else does. */
    private static final class Bell implements CompletionHandler {
        private int pending;
        private int handled;
        private boolean armed;
        private boolean rung;

        synchronized void complete() {
            pending++;
            if (armed) {
                armed = false;
                ring();
            }
        }

        private void ring() {
            rung = true;
            notifyAll();
        }

        synchronized void awaitHandled() throws InterruptedException {
            while (handled == 0) {
                wait();
            }
        }

        @Override
        public synchronized int poll() {
            int found = pending;
            pending = 0;
            handled += found;
            if (found > 0) {
                notifyAll();
            }
            return found;
        }

        @Override
        public synchronized void arm() {
            armed = true;
        }

        @Override
        public synchronized void sleep(long nanos) {
            try {
                while (!rung) {
                    wait();
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            rung = false;
        }

        @Override
        public synchronized void wake() {
            ring();
        }
    }

    private static Poller poller(Bell bell) {
        Poller poller = new Poller("poller", bell, new AdaptiveSpin(0), () -> 0, _ -> {});
        poller.start();
        return poller;
    }

    @Test
    void aMessageIsNotSleptThroughNorRunTwice() {
        Schedules.tryMany(() -> {
            AtomicInteger ran = new AtomicInteger();
            Poller poller = poller(new Bell());
            poller.execute(ran::incrementAndGet);
            poller.close();
            return ran.get() == 1;
        });
    }

    @Test
    void aCompletionIsNotSleptThrough() {
        Schedules.tryMany(() -> {
            Bell bell = new Bell();
            Poller poller = poller(bell);
            bell.complete();
            bell.awaitHandled();
            poller.close();
            return true;
        });
    }

    @Test
    void whatComesAsThePollerEndsRunsOnce() {
        Schedules.tryMany(() -> {
            AtomicInteger ran = new AtomicInteger();
            Poller poller = poller(new Bell());
            Thread late = new Thread(() -> poller.execute(ran::incrementAndGet));
            late.start();
            poller.close();
            late.join();
            return ran.get() == 1;
        });
    }
}
