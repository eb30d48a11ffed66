package io.railhead.os;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

final class MappingTest {
    private static final long BYTES = 3L << 20;

    @Test
    void anonymousMemoryIsZeroedAndWritableToItsEnd() {
        try (Mapping mapping = Mapping.anonymous(BYTES)) {
            mapping.populate();
            MemorySegment segment = mapping.segment();
            assertThat(segment.byteSize()).isEqualTo(BYTES);
            assertThat(segment.get(JAVA_BYTE, BYTES - 1)).isZero();
            segment.set(JAVA_BYTE, BYTES - 1, (byte) 7);
            assertThat(segment.get(JAVA_BYTE, BYTES - 1)).isEqualTo((byte) 7);
        }
    }

    @Test
    void populatingAndTouchingKeepWhatWasWritten() {
        try (Mapping mapping = Mapping.anonymous(BYTES)) {
            mapping.segment().set(JAVA_BYTE, 4096, (byte) 9);
            mapping.populate();
            mapping.touch();
            assertThat(mapping.segment().get(JAVA_BYTE, 4096)).isEqualTo((byte) 9);
        }
    }

    @Test
    void aClosedMappingThrowsOnAccess() {
        Mapping mapping = Mapping.anonymous(BYTES);
        MemorySegment segment = mapping.segment();
        ByteBuffer buffer = segment.asByteBuffer();
        mapping.close();
        assertThatThrownBy(() -> segment.get(JAVA_BYTE, 0))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> buffer.get(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(mapping::close).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aFailedCallNamesItselfAndItsErrno() {
        assertThatThrownBy(() -> Mapping.anonymous(Long.MAX_VALUE - 4096))
                .isInstanceOfSatisfying(OsException.class, e -> {
                    assertThat(e).hasMessageStartingWith("mmap: ");
                    assertThat(e.errno()).isEqualTo(12);
                });
    }

    @Test
    void aMappingOfNothingIsRefused() {
        assertThatThrownBy(() -> Mapping.anonymous(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("bytes must be > 0: 0");
    }

    @Test
    void aLittleMemoryCanBeLocked() {
        try (Mapping mapping = Mapping.anonymous(4096)) {
            if (HostLimits.read().memlockBytes() >= 4096) {
                mapping.lock();
            } else {
                assertThatThrownBy(mapping::lock).isInstanceOf(OsException.class);
            }
        }
    }
}
