package io.railhead.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.disk.Tombstones.Name;
import io.railhead.cache.disk.Tombstones.Tombstone;
import io.railhead.os.OsException;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The list of evictions, whose replacement fails or is cut: nothing of it joins a later list. */
final class TombstoneFileTest {
    private final FaultyDisk disk = new FaultyDisk(VolumeRig.SIZE);

    /** The blocks of a base that could not be synced stay behind the next, shorter base. */
    @Test
    void aTornBlockAfterAFailedReplacementDropsNothingElse() throws DiskRefusedException {
        FaultyDisk torn;
        try (VolumeRig rig = new VolumeRig(disk)) {
            writeTwoAndEvictOne(rig);
            TombstoneFile list = rig.volume.tombstoneFile;
            // The first sync is that of the zeroed block.
            disk.failSyncAfter(1);
            assertThatThrownBy(() -> list.replace(blocksOfOthers(4)))
                    .isInstanceOf(OsException.class);
            torn = replacedAndTorn(rig, disk);
        }
        assertOneIsEvicted(torn);
    }

    /** A power cut leaves blocks of a base without its end, and only the disk knows of them. */
    @Test
    void aTornBlockAfterAReplacementThatWasCutDropsNothingElse() throws DiskRefusedException {
        FaultyDisk cut;
        try (VolumeRig rig = new VolumeRig(disk)) {
            writeTwoAndEvictOne(rig);
            disk.cutAfter(2);
            rig.volume.tombstoneFile.replace(blocksOfOthers(8));
            cut = disk.copy();
        }
        FaultyDisk torn;
        try (VolumeRig rig = new VolumeRig(cut)) {
            torn = replacedAndTorn(rig, cut);
        }
        assertOneIsEvicted(torn);
    }

    private static void writeTwoAndEvictOne(VolumeRig rig) {
        rig.write(0);
        rig.write(4);
        rig.writer.seal();
        assertThat(rig.evict(0)).isTrue();
    }

    /** Replaces the list, and adds a block that a power cut tears. */
    private static FaultyDisk replacedAndTorn(VolumeRig rig, FaultyDisk disk) {
        TombstoneFile list = rig.volume.tombstoneFile;
        list.replace(rig.volume.tombstones.all());
        disk.cutAfter(1);
        list.append(blocksOfOthers(1));
        return disk.copy();
    }

    private static void assertOneIsEvicted(FaultyDisk disk) throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            assertThat(rig.read(0)).isNull();
            assertThat(rig.read(4)).isNotNull();
        }
    }

    /** Returns evictions of keys that no page has, as many as fill so many blocks. */
    private static List<Tombstone> blocksOfOthers(int blocks) {
        return IntStream.range(0, blocks * TombstoneFile.RECORDS_PER_BLOCK)
                .mapToObj(i -> new Tombstone(new Name(Tombstones.KEY, i, i), 1))
                .toList();
    }
}
