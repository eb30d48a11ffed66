package io.railhead.os;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class MemoryFileTest {
    private static final long BYTES = 1 << 20;

    @Test
    void twoMappingsOfOneFileShareTheirBytes() {
        try (MemoryFile file = MemoryFile.create("test", BYTES);
                Mapping one = file.map();
                Mapping other = file.map()) {
            one.segment().set(JAVA_BYTE, 12345, (byte) 42);
            assertThat(other.segment().get(JAVA_BYTE, 12345)).isEqualTo((byte) 42);
        }
    }

    @Test
    void aPartOfAFileCanBeMappedAndNoMoreThanAll() {
        try (MemoryFile file = MemoryFile.create("test", BYTES); Mapping part = file.map(5)) {
            assertThat(part.segment().byteSize()).isEqualTo(5);
            assertThatThrownBy(() -> file.map(BYTES + 1))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aMappingOutlivesItsDescriptor() {
        MemoryFile file = MemoryFile.create("test", BYTES);
        try (Mapping mapping = file.map()) {
            file.close();
            file.close();
            mapping.segment().set(JAVA_BYTE, BYTES - 1, (byte) 1);
            assertThatThrownBy(file::map).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void aCreatedFileCanNeitherShrinkNorGrow() {
        try (MemoryFile file = MemoryFile.create("test", BYTES)) {
            assertThatThrownBy(() -> Libc.ftruncate(file.descriptor(), BYTES / 2))
                    .isInstanceOf(OsException.class);
            assertThatThrownBy(() -> Libc.ftruncate(file.descriptor(), BYTES * 2))
                    .isInstanceOf(OsException.class);
        }
    }

    @Test
    void aSealedFileIsAdoptedWithItsSize() {
        int descriptor = Libc.memfdCreate("peer");
        Libc.ftruncate(descriptor, BYTES);
        Libc.addSeals(descriptor, Libc.F_SEAL_SHRINK);
        try (MemoryFile file = MemoryFile.adopt(descriptor)) {
            assertThat(file.bytes()).isEqualTo(BYTES);
            file.map().close();
        }
    }

    @Test
    void aFileThatCanShrinkIsRefusedAndClosed() {
        int descriptor = Libc.memfdCreate("peer");
        Libc.ftruncate(descriptor, BYTES);
        assertThatThrownBy(() -> MemoryFile.adopt(descriptor)).isInstanceOf(OsException.class)
                .hasMessage("memfd is not sealed with F_SEAL_SHRINK");
        assertThatThrownBy(() -> Libc.close(descriptor)).isInstanceOfSatisfying(OsException.class,
                e -> assertThat(e.errno()).isEqualTo(9));
    }

    @Test
    void anEmptyFileIsRefused() {
        int descriptor = Libc.memfdCreate("peer");
        Libc.addSeals(descriptor, Libc.F_SEAL_SHRINK);
        assertThatThrownBy(() -> MemoryFile.adopt(descriptor)).hasMessage("memfd is empty");
    }

    @Test
    void hugePagesComeInWholeOnes() {
        for (long bytes : new long[]{0, 1, (2L << 20) - 4096, (1L << 30) + (2L << 20)}) {
            assertThatThrownBy(() -> MemoryFile.create("test", bytes, HugePageSize.GIB_1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("bytes must be a multiple of 1GiB: " + bytes);
        }
    }

    /** More than any machine has; what it has is tried in the tests of the fabrics. */
    @Test
    void hugePagesThatAreNotThereCannotBeMapped() {
        assertThatThrownBy(() -> {
            try (MemoryFile file = MemoryFile.create("test", 1L << 46, HugePageSize.MIB_2)) {
                file.map().close();
            }
        }).isInstanceOf(OsException.class);
    }

    @Test
    void whatIsNoDescriptorIsRefused() {
        assertThatThrownBy(() -> MemoryFile.adopt(1 << 20)).isInstanceOf(OsException.class)
                .hasMessageStartingWith("fstatfs: ");
    }
}
