package io.railhead.cache.disk;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.os.Mapping;
import io.railhead.os.OsException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class VolumeOpeningTest {
    private final FaultyDisk disk = new FaultyDisk(VolumeRig.SIZE);
    private final DiskLayout layout = VolumeRig.layout(VolumeRig.SIZE, VolumeRig.PAGE);
    private final VolumeOpening opening = new VolumeOpening(disk, "disk", new SecureRandom());

    private Superblock open(DiskLayout wanted) throws DiskRefusedException {
        VolumeOpening.Opened opened = opening.open(wanted);
        opened.ownedList().close();
        return opened.superblock();
    }

    @Test
    void aBlankDiskBecomesAVolumeAndStaysIt() throws DiskRefusedException {
        Superblock made = open(layout);
        Superblock again = open(layout);
        assertThat(again.volume()).isEqualTo(made.volume());
        assertThat(again.secret()).isEqualTo(made.secret());
        assertThat(again.epoch()).isEqualTo(2);
    }

    /** Each volume that cannot be opened would take its memory along until the process ends. */
    @Test
    void aVolumeWithoutMemoryLeavesNoneBehind() throws DiskRefusedException {
        int made = 0;
        for (int failing = 0; failing < 2; failing++) {
            List<Mapping> mappings = new ArrayList<>();
            int fails = failing;
            VolumeOpening.Opened opened = opening.open(layout);
            assertThatThrownBy(() -> DiskVolume.of(disk, opened, Map.of(), bytes -> {
                if (mappings.size() == fails) {
                    throw new OsException("mmap: told to fail", 12);
                }
                mappings.add(Mapping.anonymous(bytes));
                return mappings.getLast();
            })).isInstanceOf(OsException.class);
            made += mappings.size();
            assertThat(mappings).noneMatch(each -> each.segment().scope().isAlive());
            assertThatThrownBy(() -> opened.ownedList().append(List.of()))
                    .as("the list is closed")
                    .isInstanceOf(IllegalStateException.class);
        }
        assertThat(made).isEqualTo(1);
    }

    /** The places of an ext4's, an LVM's, a btrfs' signature, of a master boot record's end. */
    @ParameterizedTest
    @ValueSource(longs = {0, 510, 512, 0x438, 4086, 0x10040, VolumeRig.SIZE - 4096,
            VolumeRig.SIZE - 512})
    void aForeignSignatureIsRefusedUntilItIsGone(long at) throws DiskRefusedException {
        disk.content().set(JAVA_BYTE, at, (byte) 0x53);
        assertThatThrownBy(() -> open(layout)).isInstanceOf(DiskRefusedException.class)
                .hasMessageContaining("railhead disk format disk");
        assertThatThrownBy(() -> opening.check(layout)).isInstanceOf(DiskRefusedException.class);
        assertThat(disk.content().get(JAVA_BYTE, at)).isEqualTo((byte) 0x53);
        disk.content().fill((byte) 0);
        assertThat(open(layout).epoch()).isEqualTo(1);
    }

    @Test
    void aFileSystemOverAVolumeIsRefusedToo() throws DiskRefusedException {
        open(layout);
        disk.content().asSlice(0, 4096).fill((byte) 0);
        disk.content().set(JAVA_BYTE, 0x438, (byte) 0x53);
        assertThatThrownBy(() -> open(layout)).isInstanceOf(DiskRefusedException.class);
    }

    @Test
    void eitherSuperblockIsEnough() throws DiskRefusedException {
        Superblock made = open(layout);
        disk.content().set(JAVA_BYTE, 40, (byte) ~disk.content().get(JAVA_BYTE, 40));
        assertThat(open(layout).volume()).isEqualTo(made.volume());
        disk.content().asSlice(layout.secondSuperblockAt(), 4096).fill((byte) 0);
        assertThat(open(layout).volume()).isEqualTo(made.volume());
    }

    @Test
    void twoDamagedSuperblocksDropThePages() throws DiskRefusedException {
        Superblock made = open(layout);
        disk.content().set(JAVA_BYTE, 40, (byte) 99);
        disk.content().set(JAVA_BYTE, layout.secondSuperblockAt() + 40, (byte) 99);
        assertThat(open(layout).volume()).isNotEqualTo(made.volume());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void anotherFormatDropsThePages(int format) throws DiskRefusedException {
        Superblock made = open(layout);
        disk.content().set(JAVA_INT_UNALIGNED, 8, format);
        disk.content().set(JAVA_INT_UNALIGNED, layout.secondSuperblockAt() + 8, format);
        Superblock opened = open(layout);
        assertThat(opened.volume()).isNotEqualTo(made.volume());
        assertThat(open(layout).volume()).isEqualTo(opened.volume());
    }

    @Test
    void anotherPageSizeDropsThePages() throws DiskRefusedException {
        Superblock made = open(layout);
        Superblock opened = open(VolumeRig.layout(VolumeRig.SIZE, VolumeRig.PAGE / 2));
        assertThat(opened.volume()).isNotEqualTo(made.volume());
    }

    @Test
    void pagesOfAnEarlierVolumeAreNotFound() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            rig.write(0);
            rig.writer.seal();
        }
        disk.content().set(JAVA_BYTE, 40, (byte) 99);
        disk.content().set(JAVA_BYTE, layout.secondSuperblockAt() + 40, (byte) 99);
        try (VolumeRig rig = new VolumeRig(disk)) {
            assertThat(rig.volume.index.size()).isZero();
        }
    }

    @Test
    void layoutsThatCannotWorkAreRefused() {
        assertThatThrownBy(() -> DiskLayout.of(100 << 20, 1 << 16))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("volumeBytes must be at least");
        assertThatThrownBy(() -> DiskLayout.of(17L << 40, 1 << 16))
                .hasMessageContaining("at most 16 TiB");
        assertThat(DiskLayout.of(10_000_000_000_000L, 1 << 18).segments()).isEqualTo(149_011);
    }
}
