package io.railhead.backend.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.PooledByteBufAllocator;
import org.junit.jupiter.api.Test;

class BufferLeaksTest {
    @Test
    void whatNobodyReleasesIsNamedOnce() {
        PooledByteBufAllocator.DEFAULT.directBuffer(16);

        assertThat(BufferLeaks.collected()).singleElement()
                .asString()
                .contains("BufferLeaksTest.whatNobodyReleasesIsNamedOnce");
        assertThat(BufferLeaks.collected()).isEmpty();
    }

    @Test
    void whatIsReleasedIsNone() {
        PooledByteBufAllocator.DEFAULT.directBuffer(16).release();

        assertThat(BufferLeaks.collected()).isEmpty();
    }
}
