package io.railhead.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LeaseAgesTest {

    private record Open(int tick, int at) {}

    /** Leases end in any order, but none lives longer than the ring. */
    @Test
    void theOldestIsThatOfASimpleModel() {
        Random random = new Random(7);
        LeaseAges ages = new LeaseAges();
        Deque<Open> open = new ArrayDeque<>();
        int now = 0;
        for (int step = 0; step < 20_000; step++) {
            int choice = random.nextInt(10);
            if (choice < 4) {
                open.addLast(new Open(ages.opened(), now));
            } else if (choice < 8 && !open.isEmpty()) {
                Open ended = random.nextBoolean() ? open.removeFirst() : open.removeLast();
                ages.closed(ended.tick());
            } else {
                ages.tick();
                now++;
                while (!open.isEmpty() && now - open.getFirst().at() >= LeaseAges.TICKS) {
                    ages.closed(open.removeFirst().tick());
                }
            }
            int oldest = open.isEmpty() ? 0 : now - open.getFirst().at();
            assertThat(ages.oldest()).isEqualTo(oldest);
            assertThat(ages.open()).isEqualTo(open.size());
        }
    }
}
