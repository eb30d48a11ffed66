package io.railhead.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

final class HeldNamesTest {
    private static final int PAGES = 100_000;

    /** The worst case: a full disk of objects of one page each. */
    @Test
    void oneOfTwentyOtherObjectsIsTakenForOneOnDiskAtMost() {
        HeldNames names = new HeldNames(PAGES);
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
}
