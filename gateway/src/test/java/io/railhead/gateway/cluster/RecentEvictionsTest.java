package io.railhead.gateway.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.Selection;
import io.railhead.cache.Selection.Kind;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Names that are not asked of other gateways for a while. */
final class RecentEvictionsTest {
    private static final long LATER = Duration.ofSeconds(11).toNanos();

    private final RecentEvictions evictions = new RecentEvictions();

    @Test
    void namesAreKeptForSomeSeconds() {
        evictions.add(new Selection("b", "models/", Kind.PREFIX), 5);
        assertThat(evictions.cover("b", "models/a", 5)).isTrue();
        assertThat(evictions.cover("b", "other", 5)).isFalse();
        assertThat(evictions.cover("c", "models/a", 5)).isFalse();
        assertThat(evictions.cover("b", "models/a", 5 + LATER)).isFalse();
    }

    @Test
    void tooManyToTellApartAreAllNames() {
        for (int i = 0; i < 257; i++) {
            evictions.add(new Selection("b", "key" + i, Kind.KEY), 0);
        }
        assertThat(evictions.cover("c", "another", 0)).isTrue();
        assertThat(evictions.cover("c", "another", LATER)).isFalse();
    }

    @Test
    void whatIsOverMakesRoom() {
        for (int i = 0; i < 1_000; i++) {
            evictions.add(new Selection("b", "key" + i, Kind.KEY), i * LATER);
        }
        assertThat(evictions.cover("b", "key999", 999 * LATER)).isTrue();
        assertThat(evictions.cover("b", "key0", 999 * LATER)).isFalse();
    }
}
