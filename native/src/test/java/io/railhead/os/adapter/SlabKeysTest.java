package io.railhead.os.adapter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class SlabKeysTest {
    private final SlabKeys keys = new SlabKeys();

    @Test
    void aStretchIsFoundInItsSlab() {
        keys.add(3000, 1000, 3);
        keys.add(1000, 1000, 1);
        keys.add(2000, 500, 2);
        assertThat(keys.require(1000, 1000)).isEqualTo(1);
        assertThat(keys.require(1999, 1)).isEqualTo(1);
        assertThat(keys.require(2499, 1)).isEqualTo(2);
        assertThat(keys.require(3500, 500)).isEqualTo(3);
    }

    @Test
    void whatLiesInNoSlabIsRefused() {
        keys.add(1000, 1000, 1);
        keys.add(2000, 1000, 2);
        assertThatThrownBy(() -> keys.require(999, 1)).hasMessageContaining("no registered slab");
        assertThatThrownBy(() -> keys.require(1500, 501)).hasMessageContaining("no registered");
        assertThatThrownBy(() -> keys.require(3000, 1)).hasMessageContaining("no registered");
    }
}
