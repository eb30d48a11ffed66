package io.railhead.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.disk.EvictedNames.Kind;
import io.railhead.cache.memory.LeakCheck;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Evictions by name: what was evicted is never found, whatever crashes. */
final class EvictionTest {
    private static final EvictedNames BUCKET = new EvictedNames("bucket", "", Kind.PREFIX);
    private static final long MINUTE = TimeUnit.SECONDS.toNanos(61);

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private FaultyDisk disk = new FaultyDisk(VolumeRig.SIZE);

    @Test
    void anEvictedKeyIsGoneInOpenAndSealedSegmentsAndAfterACrash() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            for (int i = 0; i < 10; i++) {
                rig.write(4 * i);
            }
            assertThat(rig.writer.sealed.sum()).isEqualTo(1);
            for (int number : new int[]{0, 36}) {
                assertThat(rig.read(number)).isNotNull();
                assertThat(rig.evict(number)).isTrue();
                assertThat(rig.read(number)).isNull();
            }
            assertThat(rig.read(4)).isNotNull();
            assertThat(rig.read(32)).isNotNull();
            rig.writer.seal();
            assertThat(rig.read(36)).isNull();
        }
        try (VolumeRig again = new VolumeRig(disk.copy())) {
            assertThat(again.read(0)).isNull();
            assertThat(again.read(36)).isNull();
            assertThat(again.read(4)).isNotNull();
            assertThat(again.read(32)).isNotNull();
        }
    }

    @Test
    void whatIsWrittenAfterAnEvictionIsFoundThenAndAfterARestart() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            rig.write(0);
            rig.evict(0);
            assertThat(rig.write(0)).isTrue();
            assertThat(rig.read(0)).isNotNull();
            rig.writer.seal();
            assertThat(rig.read(0)).isNotNull();
        }
        try (VolumeRig rig = new VolumeRig(disk)) {
            assertThat(rig.read(0)).isNotNull();
            rig.evict(0);
            assertThat(rig.read(0)).isNull();
            assertThat(rig.write(0)).isTrue();
            assertThat(rig.read(0)).isNotNull();
        }
    }

    @Test
    void aPrefixAndAWholeBucketAreEvicted() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            for (int i = 0; i < 28; i++) {
                rig.write(4 * i);
            }
            rig.evict(new EvictedNames("bucket", "key-1", Kind.PREFIX));
            rig.evict(new EvictedNames("another", "", Kind.PREFIX));
            for (int i = 0; i < 28; i++) {
                boolean covered = Integer.toString(4 * i).startsWith("1");
                assertThat(rig.read(4 * i) == null).as("key-" + 4 * i).isEqualTo(covered);
            }
            rig.evict(BUCKET);
            for (int i = 0; i < 28; i++) {
                assertThat(rig.read(4 * i)).isNull();
            }
        }
    }

    @Test
    void theNamesThatCoverAnObjectAreHashedOnceForAllItsPages() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            rig.write(0);
            rig.write(4);
            rig.evict(8);
            rig.evict(new EvictedNames("bucket", "other", Kind.PREFIX));
            VersionName.Digest digest = rig.digest(0);
            for (int i = 0; i < 1000; i++) {
                assertThat(rig.volume.find(digest, digest.page(0))).isNotNull();
            }
            // The key's, and that of its prefix of five letters.
            assertThat(digest.covering().hashes()).isEqualTo(2);
            rig.evict(new EvictedNames("bucket", "key-0", Kind.PREFIX));
            assertThat(rig.volume.find(digest, digest.page(0))).isNull();
            rig.evict(4);
            VersionName.Digest evictedLater = rig.digest(4);
            assertThat(rig.volume.find(evictedLater, evictedLater.page(0))).isNull();
        }
    }

    /**
     * Random writes, evictions, closings and power cuts, beside a map of what may be found. A page
     * that was evicted since its last write is never found once the eviction is recorded.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void whatWasEvictedStaysEvicted(long seed) throws DiskRefusedException {
        Random random = new Random(seed);
        Set<Integer> gone = new HashSet<>();
        VolumeRig rig = new VolumeRig(disk);
        int found = 0;
        int evicted = 0;
        for (int step = 0; step < 4000; step++) {
            int number = random.nextInt(60);
            switch (random.nextInt(60)) {
                case 0 -> rig = rig.reopen(disk, true);
                case 1 -> rig = rig.reopen(disk, false);
                case 2 -> {
                    disk.cutAfter(1 + random.nextInt(6));
                    for (int i = 0; i < 3; i++) {
                        int late = random.nextInt(60);
                        rig.write(late);
                        gone.remove(late);
                        // Not acknowledged to anybody, since the power is gone.
                        boolean _ = rig.evict(random.nextInt(60));
                    }
                    disk = disk.copy();
                    rig = rig.reopen(disk, false);
                }
                case 3, 4, 5, 6 -> {
                    assertThat(rig.evict(number)).isTrue();
                    gone.add(number);
                    evicted++;
                }
                case 7 -> {
                    String prefix = Integer.toString(random.nextInt(6));
                    assertThat(rig.evict(
                            new EvictedNames("bucket", "key-" + prefix, Kind.PREFIX))).isTrue();
                    for (int i = 0; i < 60; i++) {
                        if (Integer.toString(i).startsWith(prefix)) {
                            gone.add(i);
                        }
                    }
                }
                default -> {
                    if (random.nextInt(3) == 0) {
                        rig.write(number);
                        gone.remove(number);
                    }
                    byte[] read = rig.read(number);
                    if (read != null) {
                        found++;
                        assertThat(gone).as("seed " + seed + ", step " + step)
                                .doesNotContain(number);
                        assertThat(read).as("seed " + seed).isEqualTo(VolumeRig.bytes(number));
                    }
                    rig.clock.addAndGet(random.nextInt(2) * MINUTE);
                }
            }
        }
        assertThat(found).as("seed " + seed).isGreaterThan(100);
        assertThat(evicted).as("seed " + seed).isGreaterThan(50);
        rig.close();
    }

    @Test
    void aFullListDropsMoreButForgetsNone() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            for (int i = 0; i < 20; i++) {
                rig.write(4 * i);
            }
            rig.evict(0);
            for (int i = 0; i < 2 * TombstoneFile.MOST_RECORDS; i++) {
                CompletableFuture<Boolean> _ = rig.log.add(
                        new EvictedNames("other", "key-" + i, Kind.KEY));
                if (i % 100 == 0) {
                    rig.log.write(null);
                }
            }
            rig.log.write(null);
            assertThat(rig.volume.tombstones.size()).isLessThanOrEqualTo(
                    TombstoneFile.MOST_RECORDS);
            assertThat(rig.read(0)).isNull();
            // Later pages are found.
            rig.write(4 * 30);
            assertThat(rig.read(4 * 30)).isNotNull();
            rig.writer.seal();
        }
        try (VolumeRig rig = new VolumeRig(disk.copy())) {
            assertThat(rig.read(0)).isNull();
            assertThat(rig.read(4 * 30)).isNotNull();
        }
    }

    @Test
    void evictionsThatNoPageMeetsAnyMoreLeaveTheList() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            rig.write(0);
            for (int i = 0; i < 40; i++) {
                rig.evict(1000 + i);
            }
            rig.clock.addAndGet(MINUTE);
            for (int i = 0; i < 9 * VolumeRig.SEGMENTS; i++) {
                rig.write(4 * i);
            }
            rig.writer.seal();
            for (int i = 0; i < 200; i++) {
                rig.evict(2000);
            }
            assertThat(rig.volume.tombstones.size()).isEqualTo(1);
        }
    }

    @Test
    void aDamagedListDropsEveryPage() throws DiskRefusedException {
        Map<Long, Boolean> kept = new HashMap<>();
        try (VolumeRig rig = new VolumeRig(disk)) {
            rig.write(0);
            rig.write(4);
            rig.writer.seal();
            rig.evict(0);
        }
        for (int block = 0; block < DiskLayout.TOMBSTONE_BYTES / 4096; block++) {
            FaultyDisk damaged = disk.copy();
            long at = DiskLayout.TOMBSTONES_AT + 4096L * block;
            damaged.flipBit(8 * (at + 70));
            try (VolumeRig rig = new VolumeRig(damaged)) {
                assertThat(rig.read(0)).as("block " + block).isNull();
                kept.put((long) block, rig.read(4) != null);
            }
        }
        // The base, and the eviction's block: the one behind it says that it was synced.
        assertThat(kept.values().stream().filter(each -> !each).count()).isEqualTo(2);
    }

    /** A power cut tears the last block, whose evictions nobody was told to be on record. */
    @Test
    void aTornBlockAtTheEndDropsNothingElse() throws DiskRefusedException {
        FaultyDisk torn;
        try (VolumeRig rig = new VolumeRig(disk)) {
            rig.write(0);
            rig.write(4);
            rig.write(8);
            rig.writer.seal();
            assertThat(rig.evict(0)).isTrue();
            for (int i = 0; i < 100; i++) {
                CompletableFuture<Boolean> _ = rig.log.add(
                        new EvictedNames("other", "key-" + i, Kind.KEY));
            }
            disk.cutAfter(1);
            rig.log.write(null);
            torn = disk.copy();
        }
        try (VolumeRig rig = new VolumeRig(torn)) {
            assertThat(rig.read(0)).isNull();
            assertThat(rig.read(4)).isNotNull();
            assertThat(rig.evict(4)).isTrue();
        }
        try (VolumeRig rig = new VolumeRig(torn.copy())) {
            assertThat(rig.read(0)).isNull();
            assertThat(rig.read(4)).isNull();
            assertThat(rig.read(8)).isNotNull();
        }
    }

    @Test
    void anEvictionIsAnsweredOnceItIsOnDisk() {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        write(rig, tier, 1);
        write(rig, tier, 2);
        FaultyDisk one = Objects.requireNonNull(rig.disks.get("a"));
        one.failWrites(true);
        assertThat(tier.evict(key(1)).join()).containsExactly("a");
        assertThat(TierRig.read(tier, 1, VolumeRig.PAGE)).isNull();
        one.failWrites(false);
        assertThat(tier.evict(key(2)).join()).isEmpty();
        tier.close();
        DiskTier again = rig.open();
        // The first was written with the second.
        assertThat(TierRig.read(again, 1, VolumeRig.PAGE)).isNull();
        assertThat(TierRig.read(again, 2, VolumeRig.PAGE)).isNull();
        assertThat(again.stats().pages()).isZero();
    }

    @Test
    void aPageThatWaitsIsNotKeptIfItIsEvictedMeanwhile() {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        FaultyDisk one = Objects.requireNonNull(rig.disks.get("a"));
        one.hang();
        assertThat(rig.offer(tier, 1, new byte[VolumeRig.PAGE])).isTrue();
        assertThat(rig.offer(tier, 2, new byte[VolumeRig.PAGE])).isTrue();
        CompletableFuture<List<String>> recorded = tier.evict(key(1));
        assertThat(recorded).isNotDone();
        one.goOn();
        assertThat(recorded.join()).isEmpty();
        TierRig.await(() -> tier.stats().queuedBytes() == 0);
        assertThat(TierRig.read(tier, 1, VolumeRig.PAGE)).isNull();
        assertThat(TierRig.read(tier, 2, VolumeRig.PAGE)).isNotNull();
    }

    @Test
    void aDiskThatOpensLateHasNoneOfWhatWasEvictedBefore() {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        write(rig, tier, 1);
        write(rig, tier, 2);
        tier.close();
        FaultyDisk one = Objects.requireNonNull(rig.disks.get("a"));
        one.hang();
        DiskTier again = rig.begin();
        assertThat(again.evict(key(1)).join()).containsExactly("a");
        one.goOn();
        TierRig.await(again::isRecovered);
        assertThat(TierRig.read(again, 1, VolumeRig.PAGE)).isNull();
        assertThat(TierRig.read(again, 2, VolumeRig.PAGE)).isNotNull();
    }

    @Test
    void anEvictionThatIsTooLateIsAnsweredWithNo() {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        tier.close();
        assertThat(tier.evict(key(1))).isCompletedWithValue(List.of("a"));
    }

    private static EvictedNames key(int number) {
        return new EvictedNames("bucket", "key-" + number, Kind.KEY);
    }

    private static void write(TierRig rig, DiskTier tier, int number) {
        long before = tier.stats().writtenPages();
        assertThat(rig.offer(tier, number, new byte[VolumeRig.PAGE])).isTrue();
        TierRig.await(() -> tier.stats().writtenPages() > before);
    }
}
