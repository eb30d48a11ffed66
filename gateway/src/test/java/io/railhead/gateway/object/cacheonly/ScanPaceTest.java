package io.railhead.gateway.object.cacheonly;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A scan that nobody waits for any more. */
final class ScanPaceTest {

    @Test
    void itStopsAtTheNextThousand() {
        AtomicBoolean over = new AtomicBoolean();
        ScanPace pace = new ScanPace(over::get);
        for (int i = 0; i < 2500; i++) {
            assertThat(pace.goesOn()).isTrue();
        }
        over.set(true);
        int further = 0;
        while (pace.goesOn()) {
            further++;
        }
        assertThat(further).isEqualTo(499);
    }
}
