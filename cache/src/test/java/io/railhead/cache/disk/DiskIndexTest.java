package io.railhead.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.disk.DiskIndex.Place;
import io.railhead.os.Mapping;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DiskIndexTest {
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void itHoldsWhatAMapHolds(long seed) {
        Random random = new Random(seed);
        Map<PageIdentity, Place> model = new HashMap<>();
        List<PageIdentity> known = new ArrayList<>();
        try (DiskIndex index = new DiskIndex(300, Mapping::anonymous)) {
            for (int step = 0; step < 20_000; step++) {
                PageIdentity identity = random.nextInt(3) > 0 && !known.isEmpty()
                        ? known.get(random.nextInt(known.size()))
                        : new PageIdentity(random.nextLong() << 55, random.nextLong());
                Place place = new Place(random.nextInt(4000), 1 + random.nextInt(1 << 20),
                        random.nextInt(), step);
                switch (random.nextInt(8)) {
                    case 0, 1, 2, 3 -> {
                        if (index.put(identity, place)) {
                            model.put(identity, place);
                            known.add(identity);
                        }
                    }
                    case 4, 5, 6 -> {
                        Place held = model.get(identity);
                        int unit = held == null ? 1 : held.unit();
                        assertThat(index.remove(identity, unit)).as("seed " + seed)
                                .isEqualTo(model.remove(identity) != null);
                    }
                    default -> assertThat(index.find(identity)).as("seed " + seed)
                            .isEqualTo(model.get(identity));
                }
                if (step % 5000 == 4999) {
                    index.removeUnits(1000, 2000);
                    model.values().removeIf(each -> each.unit() >= 1000 && each.unit() < 2000);
                }
            }
            assertThat(index.size()).as("seed " + seed).isEqualTo(model.size());
            assertThat(index.heldBytes()).as("seed " + seed)
                    .isEqualTo(model.values().stream().mapToLong(Place::length).sum());
            assertThat(index.bytes()).isEqualTo(DiskIndex.bytes(300));
            model.forEach((identity, place) -> assertThat(index.find(identity)).isEqualTo(place));
        }
    }

    @Test
    void anOlderPlaceDoesNotReplaceALaterOne() {
        try (DiskIndex index = new DiskIndex(10, Mapping::anonymous)) {
            PageIdentity identity = new PageIdentity(1, 2);
            Place later = new Place(5, 100, 1, 9);
            assertThat(index.put(identity, later)).isTrue();
            assertThat(index.put(identity, new Place(6, 100, 1, 8))).isFalse();
            assertThat(index.find(identity)).isEqualTo(later);
        }
    }

    @Test
    void aFullIndexTakesNoMore() {
        try (DiskIndex index = new DiskIndex(10, Mapping::anonymous)) {
            int taken = 0;
            for (int i = 0; i < 1000; i++) {
                taken += index.put(new PageIdentity(i * 0x9E3779B97F4A7C15L, i),
                        new Place(i, 1, 1, 1)) ? 1 : 0;
            }
            assertThat(taken).isBetween(40, 64);
            assertThat(index.find(new PageIdentity(-1, -1))).isNull();
        }
    }

    @Test
    void aClosedIndexFindsNothing() {
        DiskIndex index = new DiskIndex(10, Mapping::anonymous);
        index.put(new PageIdentity(1, 2), new Place(1, 1, 1, 1));
        index.close();
        assertThat(index.find(new PageIdentity(1, 2))).isNull();
        assertThat(index.put(new PageIdentity(1, 2), new Place(1, 1, 1, 1))).isFalse();
    }

    /** 10 TB of pages of 256 KiB, by count. */
    @Test
    void tenTerabytesTakeTwoGigabytesOfIndex() {
        long pages = 10_000_000_000_000L / (256 << 10);
        long slots = pages + pages / 2;
        assertThat(slots * DiskIndex.ENTRY_BYTES).isLessThan(2_000_000_000L);
    }
}
