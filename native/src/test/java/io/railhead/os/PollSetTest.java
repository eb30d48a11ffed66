package io.railhead.os;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

final class PollSetTest {

    @Test
    void aSleeperIsWokenByASignalUntilItIsCleared() {
        try (EventDescriptor quiet = new EventDescriptor();
                EventDescriptor loud = new EventDescriptor();
                PollSet set = new PollSet(quiet.descriptor(), loud.descriptor())) {
            assertThat(set.await(0)).isZero();
            Thread.startVirtualThread(loud::signal);
            assertThat(set.await(-1)).isEqualTo(1);
            assertThat(set.isReady(0)).isFalse();
            assertThat(set.isReady(1)).isTrue();
            loud.clear();
            assertThat(set.await(0)).isZero();
        }
    }

    @Test
    void aSignalBeforeTheSleepIsNotLostAndManyAreOne() {
        try (EventDescriptor wake = new EventDescriptor();
                PollSet set = new PollSet(wake.descriptor())) {
            wake.signal();
            wake.signal();
            assertThat(set.await(-1)).isEqualTo(1);
            wake.clear();
            wake.clear();
            assertThat(set.await(1)).isZero();
        }
    }

    @Test
    void sleepingMakesNoGarbage() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int rounds = 20_000;
        try (EventDescriptor wake = new EventDescriptor();
                PollSet set = new PollSet(wake.descriptor())) {
            sleep(set, rounds);
            long before = threads.getCurrentThreadAllocatedBytes();
            sleep(set, rounds);
            assertThat((threads.getCurrentThreadAllocatedBytes() - before) / rounds)
                    .as("an arena and what a call captures would be hundreds")
                    .isLessThan(64);
        }
    }

    private static void sleep(PollSet set, int rounds) {
        for (int i = 0; i < rounds; i++) {
            int _ = set.await(0);
        }
    }

    @Test
    void aSignalAfterTheEndDoesNothing() {
        EventDescriptor wake = new EventDescriptor();
        wake.close();
        try (EventDescriptor reused = new EventDescriptor();
                PollSet set = new PollSet(reused.descriptor())) {
            wake.signal();
            wake.close();
            assertThat(set.await(0)).isZero();
        }
    }
}
