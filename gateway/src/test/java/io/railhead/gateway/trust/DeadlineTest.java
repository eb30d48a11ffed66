package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DeadlineTest {
    private final AtomicLong clock = new AtomicLong(7);
    private final Deadline deadline = new Deadline(Duration.ofNanos(10), clock::get);

    @Test
    void whatIsTriedAgainMayTakeAsLong() {
        assertThat(deadline.isMetBy(() -> clock.incrementAndGet() == 17)).isTrue();
    }

    @Test
    void whatNeverSucceedsIsGivenUp() {
        assertThat(deadline.isMetBy(() -> clock.incrementAndGet() == 0)).isFalse();
        assertThat(deadline.isOver()).isTrue();
    }

    @Test
    void whatSucceedsTooLateIsLateAllTheSame() {
        assertThat(deadline.isMetBy(() -> clock.addAndGet(11) > 0)).isFalse();
    }
}
