package io.railhead.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.os.Mapping;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class HeldNamesTest {
    private static final int PAGES = 100_000;

    /** The worst case: a full disk of objects of one page each. */
    @Test
    void oneOfTwentyOtherObjectsIsTakenForOneOnDiskAtMost() {
        HeldNames names = new HeldNames(PAGES, Mapping::anonymous);
        try (names) {
            fillAndEmpty(names);
        }
        assertThat(names.mayHold(1)).as("after its end").isFalse();
    }

    private static void fillAndEmpty(HeldNames names) {
        Random random = new Random(1);
        for (int i = 0; i < PAGES; i++) {
            names.add(random.nextLong());
        }
        int wrong = 0;
        for (int i = 0; i < PAGES; i++) {
            wrong += names.mayHold(random.nextLong()) ? 1 : 0;
        }
        assertThat(wrong).isBetween(PAGES / 50, PAGES / 20);
        Random again = new Random(1);
        for (int i = 0; i < PAGES; i++) {
            long hash = again.nextLong();
            assertThat(names.mayHold(hash)).isTrue();
            names.remove(hash);
        }
        assertThat(names.mayHold(random.nextLong())).isFalse();
    }

    /** A counter that has counted all it can says yes from then on, and never no. */
    @Test
    void anObjectInMoreSegmentsThanACounterCountsIsHeldForGood() {
        try (HeldNames names = new HeldNames(PAGES, Mapping::anonymous)) {
            for (int i = 0; i < 20; i++) {
                names.add(1);
            }
            for (int i = 0; i < 20; i++) {
                assertThat(names.mayHold(1)).isTrue();
                names.remove(1);
            }
            assertThat(names.mayHold(1)).isTrue();
            assertThat(names.mayHold(2)).isFalse();
        }
    }
}
