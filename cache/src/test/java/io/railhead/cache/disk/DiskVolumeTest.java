package io.railhead.cache.disk;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.disk.DiskStats.NotKept;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DiskVolumeTest {
    private FaultyDisk disk = new FaultyDisk(VolumeRig.SIZE);

    /**
     * Random writes, reads, closings and cuts, beside a set of what was written. What is read is
     * right. What was sealed, and is not overwritten, is found after each restart.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void itGivesOutOnlyWhatWasWritten(long seed) throws DiskRefusedException {
        Random random = new Random(seed);
        Set<Integer> written = new HashSet<>();
        VolumeRig rig = new VolumeRig(disk);
        int found = 0;
        for (int step = 0; step < 4000; step++) {
            int number = random.nextInt(400);
            switch (random.nextInt(100)) {
                case 0 -> rig = rig.reopen(disk, true);
                case 1 -> rig = rig.reopen(disk, false);
                case 2 -> {
                    // The power fails in the middle of some write.
                    disk.cutAfter(1 + random.nextInt(10));
                    for (int i = 0; i < 10; i++) {
                        int late = random.nextInt(400);
                        written.add(late);
                        rig.write(late);
                    }
                    disk = disk.copy();
                    rig = rig.reopen(disk, false);
                }
                default -> {
                    if (random.nextBoolean()) {
                        written.add(number);
                        rig.write(number);
                    }
                    byte[] read = rig.read(number);
                    if (read != null) {
                        found++;
                        assertThat(written).as("seed " + seed).contains(number);
                        assertThat(read).as("seed " + seed)
                                .isEqualTo(VolumeRig.bytes(number));
                    }
                }
            }
        }
        assertThat(found).as("seed " + seed).isGreaterThan(100);
        rig.close();
    }

    @Test
    void everyPageOfASealedSegmentIsFoundAfterACrash() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            for (int i = 0; i < 30; i++) {
                assertThat(rig.write(4 * i)).isTrue();
            }
            assertThat(rig.writer.sealed.sum()).isEqualTo(4);
        }
        try (VolumeRig again = new VolumeRig(disk.copy())) {
            // Seven pages of full length fit a segment.
            for (int i = 0; i < 28; i++) {
                assertThat(again.read(4 * i)).isEqualTo(VolumeRig.bytes(4 * i));
            }
            assertThat(again.read(4 * 28)).isNull();
            assertThat(again.volume.superblock.epoch()).isEqualTo(2);
        }
    }

    @Test
    void theOldestSegmentGoesFirst() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            int pages = 7 * VolumeRig.SEGMENTS;
            for (int i = 0; i < pages; i++) {
                rig.write(4 * i);
            }
            assertThat(rig.volume.isFull()).isFalse();
            assertThat(rig.read(0)).isNotNull();
            rig.write(4 * pages);
            assertThat(rig.volume.isFull()).isTrue();
            assertThat(rig.read(0)).isNull();
            assertThat(rig.read(4 * 7)).isNotNull();
            assertThat(rig.read(4 * pages)).isNotNull();
            assertThat(rig.volume.index.size()).isEqualTo(pages - 7 + 1);
        }
    }

    @Test
    void noFlippedBitIsGivenOut() throws DiskRefusedException {
        Random random = new Random(7);
        for (int round = 0; round < 20; round++) {
            disk = new FaultyDisk(VolumeRig.SIZE);
            try (VolumeRig rig = new VolumeRig(disk)) {
                for (int i = 0; i < 60; i++) {
                    rig.write(i);
                }
                rig.writer.seal();
            }
            for (int i = 0; i < 500; i++) {
                disk.flipBit(8L * (1 << 20)
                        + random.nextLong(8 * VolumeRig.SEGMENTS * VolumeRig.SEGMENT));
            }
            try (VolumeRig rig = new VolumeRig(disk)) {
                for (int i = 0; i < 60; i++) {
                    byte[] read = rig.read(i);
                    assertThat(read == null || Arrays.equals(read, VolumeRig.bytes(i))).isTrue();
                }
            }
        }
    }

    @Test
    void aFlippedBitDropsItsPageAlone() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            rig.write(0);
            rig.write(4);
            disk.flipBit(8L * ((1 << 20) + 100));
            assertThat(rig.read(0)).isNull();
            assertThat(rig.volume.corrupt.sum()).isEqualTo(1);
            assertThat(rig.volume.find(rig.identity(0))).isNull();
            assertThat(rig.read(4)).isEqualTo(VolumeRig.bytes(4));
        }
    }

    @Test
    void aTornFooterDropsItsSegmentAlone() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            for (int i = 0; i < 14; i++) {
                rig.write(4 * i);
            }
            rig.writer.seal();
            disk.flipBit(8 * (rig.volume.layout.footerAt(0) + 70));
        }
        try (VolumeRig rig = new VolumeRig(disk)) {
            assertThat(rig.read(0)).isNull();
            assertThat(rig.read(4 * 7)).isEqualTo(VolumeRig.bytes(4 * 7));
            // Its segment is the next to be used.
            rig.write(400);
            assertThat(rig.volume.sequence(0)).isEqualTo(3);
        }
    }

    @Test
    void theDiskHasNoneOfTheMemoryBehindAShortPage() throws DiskRefusedException {
        byte[] canary = "xxxxxxxx".getBytes(US_ASCII);
        try (VolumeRig rig = new VolumeRig(disk)) {
            for (int i = 0; i < 200; i++) {
                byte[] bytes = new byte[1 + i * 80];
                rig.write(i, bytes);
            }
            rig.writer.seal();
        }
        byte[] image = disk.content().toArray(JAVA_BYTE);
        for (int at = 0; at + canary.length <= image.length; at++) {
            assertThat(Arrays.equals(image, at, at + canary.length, canary, 0, canary.length))
                    .as("at " + at)
                    .isFalse();
        }
    }

    @Test
    void aPageThatWasRefutedMeanwhileIsNotKept() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            rig.write(0);
            Deque<Boolean> current = new ArrayDeque<>(java.util.List.of(true, false));
            MemorySegment page = java.lang.foreign.Arena.ofAuto().allocate(4096, 4096);
            assertThat(rig.writer.write(rig.offered(1, 0, page, current::pop)))
                    .isEqualTo(NotKept.OVERTAKEN);
            assertThat(rig.volume.find(rig.identity(1))).isNull();
            rig.writer.seal();
        }
        try (VolumeRig rig = new VolumeRig(disk)) {
            assertThat(rig.read(0)).isNotNull();
            assertThat(rig.volume.find(rig.identity(1))).isNull();
        }
    }

    /** A remover that comes between the put and the second look finds the name. */
    @Test
    void aPageIsNamedBeforeItIsFound() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            long hash = rig.digest(0).objectHash();
            List<Boolean> named = new ArrayList<>();
            MemorySegment page = java.lang.foreign.Arena.ofAuto().allocate(4096, 4096);
            NotKept refusal = rig.writer.write(rig.offered(0, 0, page, () -> {
                named.add(rig.volume.names.mayHold(hash));
                return named.size() == 1;
            }));
            assertThat(refusal).isEqualTo(NotKept.OVERTAKEN);
            assertThat(named).containsExactly(false, true);
            assertThat(rig.volume.names.mayHold(hash)).isFalse();
        }
    }

    @Test
    void aSegmentThatCannotBeWrittenIsLeftOut() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            disk.failWrites(true);
            assertThatThrownBy(() -> rig.write(0)).isInstanceOf(OsException.class);
            disk.failWrites(false);
            assertThat(rig.write(0)).isTrue();
            assertThat(rig.volume.sequence(0)).isZero();
            assertThat(rig.volume.sequence(1)).isEqualTo(1);
            assertThat(rig.read(0)).isNotNull();
        }
    }

    @Test
    void aFullDiskThatCanOnlyBeReadKeepsItsPages() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            int pages = 7 * VolumeRig.SEGMENTS;
            for (int i = 0; i < pages; i++) {
                rig.write(4 * i);
            }
            disk.failWrites(true);
            for (int i = 0; i < 3 * VolumeRig.SEGMENTS; i++) {
                int number = 4 * (pages + i);
                assertThatThrownBy(() -> rig.write(number)).isInstanceOf(OsException.class);
            }
            for (int i = 0; i < pages; i++) {
                assertThat(rig.read(4 * i)).isEqualTo(VolumeRig.bytes(4 * i));
            }
            disk.failWrites(false);
            for (int i = 0; i < 2 * pages; i++) {
                assertThat(rig.write(4 * (pages + i))).isTrue();
            }
            assertThat(rig.volume.index.size()).isEqualTo(pages);
        }
    }

    /** Pages of one unit each: the index has room for fewer than the disk. */
    @Test
    void theOldestPagesGoWhereTheIndexIsFullBeforeTheDisk() throws DiskRefusedException {
        int number = 0;
        byte[] small = new byte[1];
        try (VolumeRig rig = new VolumeRig(disk)) {
            int units = rig.volume.layout.dataUnits();
            while (!rig.volume.index.isFull()) {
                assertThat(rig.write(number++, small)).isTrue();
            }
            assertThat(number).isLessThan(units * VolumeRig.SEGMENTS);
            assertThat(rig.volume.isFull()).isFalse();
            int full = number;
            for (int i = 0; i < 5 * full; i++) {
                assertThat(rig.write(number++, small)).isTrue();
                assertThat(rig.volume.find(rig.identity(number - 1))).isNotNull();
            }
            assertThat(rig.volume.isFull()).isTrue();
            // The youngest are there, and nothing lies about that nobody can find.
            for (int i = number - full + 2 * units; i < number; i++) {
                assertThat(rig.volume.find(rig.identity(i))).as("page " + i).isNotNull();
            }
            assertThat(rig.volume.index.size()).isGreaterThan(full - 2 * units);
            rig.writer.seal();
        }
        try (VolumeRig rig = new VolumeRig(disk)) {
            int found = 0;
            for (int i = 0; i < number; i++) {
                found += rig.volume.find(rig.identity(i)) == null ? 0 : 1;
            }
            assertThat(found).isEqualTo((int) rig.volume.index.size());
            assertThat(rig.write(number, small)).isTrue();
        }
    }

    @Test
    void aFooterThatCannotBeReadAtTheStartIsTriedAgainThenLeftAlone()
            throws DiskRefusedException {
        int segmentPages = 7;
        try (VolumeRig rig = new VolumeRig(disk)) {
            for (int i = 0; i < segmentPages * VolumeRig.SEGMENTS; i++) {
                rig.write(4 * i);
            }
            rig.writer.seal();
        }
        long at = VolumeRig.layout(VolumeRig.SIZE, VolumeRig.PAGE).footerAt(2);
        disk.failReadsAt(at, 1);
        try (VolumeRig rig = new VolumeRig(disk)) {
            assertThat(rig.volume.unreadable()).isZero();
            assertThat(rig.read(4 * 2 * segmentPages)).isNotNull();
        }
        disk.failReadsAt(at, 2);
        try (VolumeRig rig = new VolumeRig(disk)) {
            assertThat(rig.volume.unreadable()).isEqualTo(1);
            assertThat(rig.volume.isFull()).isTrue();
            for (int i = 0; i < 3 * segmentPages * VolumeRig.SEGMENTS; i++) {
                assertThat(rig.write(4 * (1000 + i))).isTrue();
            }
            rig.writer.seal();
        }
        try (VolumeRig rig = new VolumeRig(disk)) {
            // Its pages are found again after the next restart.
            assertThat(rig.read(4 * 2 * segmentPages)).isNotNull();
        }
    }

    @Test
    void objectsAreNamedAsLongAsASegmentHasThem() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            rig.write(0);
            assertThat(mayHold(rig, 0)).isTrue();
            // Of an object that is not there, the filter says yes once in 28 times at most.
            assertThat(IntStream.range(1000, 1020).filter(i -> mayHold(rig, i)).count())
                    .isLessThan(10);
            for (int i = 1; i < 8 * VolumeRig.SEGMENTS; i++) {
                rig.write(4 * i);
            }
            assertThat(IntStream.range(0, 6).filter(i -> mayHold(rig, 4 * i)).count())
                    .isLessThan(6);
        }
    }

    private static boolean mayHold(VolumeRig rig, int number) {
        return rig.volume.names.mayHold(rig.digest(number).objectHash());
    }

    @Test
    void namesThatRunTogetherAreDifferentPages() {
        byte[] secret = new byte[32];
        VersionName one = new VersionName("s", "n", "ab", "c", "", "e", "", 5);
        VersionName other = new VersionName("s", "n", "a", "bc", "", "e", "", 5);
        assertThat(one.digest(secret).page(0)).isNotEqualTo(other.digest(secret).page(0));
        assertThat(one.digest(secret).page(0)).isNotEqualTo(one.digest(secret).page(1));
        byte[] another = new byte[32];
        another[0] = 1;
        assertThat(one.digest(secret).page(0)).isNotEqualTo(one.digest(another).page(0));
        assertThat(one.digest(secret).page(3)).isEqualTo(one.digest(secret).page(3));
    }
}
