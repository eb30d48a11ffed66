package io.railhead.os;

import static org.assertj.core.api.Assertions.assertThat;

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
