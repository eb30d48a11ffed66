package io.railhead.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.disk.DiskStats.NotKept;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.os.RequiresDirectFiles;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

final class DiskTierTest {
    private static final int PAGE = TierRig.PAGE;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    @TempDir
    Path folder;

    private static byte[] bytes(int number) {
        byte[] bytes = new byte[PAGE - number];
        new Random(number).nextBytes(bytes);
        return bytes;
    }

    private void write(TierRig rig, DiskTier tier, int number) {
        long before = tier.stats().writtenPages();
        assertThat(rig.offer(tier, number, bytes(number))).isTrue();
        TierRig.await(() -> tier.stats().writtenPages() > before);
    }

    @Test
    void aPageThatMemoryGaveUpIsReadFromDiskAndSoAfterARestart() {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        write(rig, tier, 1);
        assertThat(TierRig.read(tier, 1, PAGE - 1)).isEqualTo(bytes(1));
        assertThat(TierRig.read(tier, 2, PAGE - 2)).isNull();
        tier.close();
        DiskTier again = rig.open();
        assertThat(TierRig.read(again, 1, PAGE - 1)).isEqualTo(bytes(1));
        assertThat(again.mayHold(TierRig.name(1, 0))).isTrue();
        // The filter may say yes for one that is not held, but not for all of them.
        assertThat(IntStream.range(2, 12).allMatch(i -> again.mayHold(TierRig.name(i, 0))))
                .isFalse();
    }

    @Test
    void severalDisksShareThePages() {
        TierRig rig = new TierRig(leaks, 0, "a", "b", "c");
        DiskTier tier = rig.open();
        for (int i = 1; i <= 12; i++) {
            write(rig, tier, i);
        }
        tier.close();
        DiskTier again = rig.open();
        for (int i = 1; i <= 12; i++) {
            assertThat(TierRig.read(again, i, PAGE - i)).isEqualTo(bytes(i));
        }
        for (FaultyDisk disk : rig.disks.values()) {
            disk.failReads(true);
        }
        assertThat(TierRig.read(again, 1, PAGE - 1)).isNull();
        assertThat(again.stats().errors()).isEqualTo(1);
    }

    @Test
    void pagesOnTwoDisksHaveNoCommonHolder() {
        VersionName version = TierRig.name(1, 2L * PAGE);
        TierRig both = new TierRig(leaks, 0, "a", "b");
        for (int i = 0; i < 2; i++) {
            String path = i == 0 ? "a" : "b";
            TierRig one = new TierRig(leaks, 0, path);
            DiskTier tier = one.open();
            assertThat(one.offer(tier, version, i, bytes(0), () -> true)).isTrue();
            TierRig.await(() -> tier.stats().writtenPages() == 1);
            assertThat(tier.held(version).holderOfEach(i)).isZero();
            tier.close();
            both.disks.put(path, Objects.requireNonNull(one.disks.get(path)));
        }
        DiskTier tier = both.open();
        assertThat(tier.held(version).holderOfEach(0)).isZero();
        assertThat(tier.held(version).holderOfEach(1)).isEqualTo(1);
        assertThat(tier.held(version).holdsAll(0, 2)).isTrue();
        assertThat(tier.held(version).holderOfEach(0, 1)).isEqualTo(DiskTier.NOBODY);
    }

    @Test
    void aDiskThatFailsIsLeftAloneAndTriedAgain() {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        write(rig, tier, 1);
        FaultyDisk disk = Objects.requireNonNull(rig.disks.get("a"));
        disk.failReads(true);
        for (int i = 0; i < 3; i++) {
            assertThat(TierRig.read(tier, 1, PAGE - 1)).isNull();
        }
        assertThat(tier.stats().brokenVolumes()).isEqualTo(1);
        assertThat(tier.held(TierRig.name(1, PAGE - 1)).holder(0)).isEqualTo(DiskTier.NOBODY);
        assertThat(rig.offer(tier, 2, bytes(2))).isFalse();
        assertThat(tier.stats().notKept()).containsEntry(NotKept.BROKEN, 1L);
        disk.failReads(false);
        TierRig.await(() -> tier.stats().brokenVolumes() == 0);
        assertThat(TierRig.read(tier, 1, PAGE - 1)).isEqualTo(bytes(1));
    }

    @Test
    void aWriteThatFailsLosesItsPageOnly() {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        write(rig, tier, 1);
        FaultyDisk disk = Objects.requireNonNull(rig.disks.get("a"));
        disk.failWrites(true);
        assertThat(rig.offer(tier, 2, bytes(2))).isTrue();
        TierRig.await(() -> tier.stats().errors() == 1);
        disk.failWrites(false);
        TierRig.await(() -> tier.stats().queuedBytes() == 0);
        assertThat(TierRig.read(tier, 2, PAGE - 2)).isNull();
        write(rig, tier, 3);
        assertThat(TierRig.read(tier, 1, PAGE - 1)).isEqualTo(bytes(1));
        assertThat(TierRig.read(tier, 3, PAGE - 3)).isEqualTo(bytes(3));
    }

    @Test
    void aHangingReadIsEndedAndItsBytesGoNowhere() {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        write(rig, tier, 1);
        FaultyDisk disk = Objects.requireNonNull(rig.disks.get("a"));
        disk.hang();
        // Twice as many as there are threads to read.
        for (int i = 0; i < 16; i++) {
            TierRig.Taken taken = new TierRig.Taken(PAGE - 1);
            tier.held(TierRig.name(1, PAGE - 1)).read(0, 0, 1, taken);
            assertThat(taken.bytes()).isNull();
        }
        assertThat(tier.stats().hangs()).isPositive();
        assertThat(tier.stats().brokenVolumes()).isEqualTo(1);
        disk.goOn();
        TierRig.await(() -> tier.stats().brokenVolumes() == 0);
        assertThat(TierRig.read(tier, 1, PAGE - 1)).isEqualTo(bytes(1));
    }

    @Test
    void aHangingDiskKeepsNoMoreMemoryThanTheQueue() {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        write(rig, tier, 1);
        long used = rig.memory.stats().usedBytes();
        FaultyDisk disk = Objects.requireNonNull(rig.disks.get("a"));
        disk.hang();
        for (int i = 0; i < 40; i++) {
            rig.offer(tier, 10 + i, bytes(10 + i));
        }
        assertThat(tier.stats().notKept().get(NotKept.QUEUE)).isEqualTo(32);
        assertThat(rig.memory.stats().usedBytes() - used).isEqualTo(8L * PAGE);
        TierRig.await(() -> tier.stats().brokenVolumes() == 1);
        assertThat(rig.offer(tier, 99, bytes(99))).isFalse();
        // The memory of the write under way stays leased until the disk has let go of it.
        assertThat(rig.memory.stats().leases()).isPositive();
        disk.goOn();
        TierRig.await(() -> rig.memory.stats().leases() == 0);
        TierRig.await(() -> tier.stats().brokenVolumes() == 0);
    }

    @Test
    void aWriteThatHangsStopsWritesAloneAndCountsOnce() throws InterruptedException {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        write(rig, tier, 1);
        FaultyDisk disk = Objects.requireNonNull(rig.disks.get("a"));
        disk.hangWrites();
        assertThat(rig.offer(tier, 2, bytes(2))).isTrue();
        TierRig.await(() -> tier.stats().brokenVolumes() == 1);
        // Longer than the first pauses after which a disk is tried again.
        for (int i = 0; i < 25; i++) {
            assertThat(TierRig.read(tier, 1, PAGE - 1)).isEqualTo(bytes(1));
            assertThat(rig.offer(tier, 3, bytes(3))).isFalse();
            Thread.sleep(100);
        }
        assertThat(tier.stats().hangs()).isEqualTo(1);
        disk.goOn();
        TierRig.await(() -> tier.stats().brokenVolumes() == 0);
        assertThat(TierRig.read(tier, 2, PAGE - 2)).isEqualTo(bytes(2));
    }

    @Test
    void readsThatSucceedDoNotHideWritesThatFail() {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        write(rig, tier, 1);
        FaultyDisk disk = Objects.requireNonNull(rig.disks.get("a"));
        disk.failWrites(true);
        for (int i = 2; i < 5; i++) {
            assertThat(rig.offer(tier, i, bytes(i))).isTrue();
            TierRig.await(() -> tier.stats().queuedBytes() == 0);
            assertThat(TierRig.read(tier, 1, PAGE - 1)).isEqualTo(bytes(1));
        }
        assertThat(tier.stats().brokenVolumes()).isEqualTo(1);
        assertThat(rig.offer(tier, 6, bytes(6))).isFalse();
        assertThat(TierRig.read(tier, 1, PAGE - 1)).isEqualTo(bytes(1));
        disk.failWrites(false);
        TierRig.await(() -> tier.stats().brokenVolumes() == 0);
        write(rig, tier, 7);
    }

    @Test
    void closingDoesNotWaitForAHangingDisk() {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        write(rig, tier, 1);
        FaultyDisk disk = Objects.requireNonNull(rig.disks.get("a"));
        disk.hang();
        TierRig.Taken taken = new TierRig.Taken(PAGE - 1);
        tier.held(TierRig.name(1, PAGE - 1)).read(0, 0, 1, taken);
        tier.close();
        assertThat(taken.bytes()).isNull();
        disk.goOn();
    }

    @Test
    void aFullDiskTakesPagesTheSecondTime() {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        int number = 0;
        while (tier.stats().notKept().getOrDefault(NotKept.ONCE, 0L) == 0) {
            rig.offer(tier, ++number, new byte[PAGE]);
            TierRig.await(() -> tier.stats().queuedBytes() == 0);
        }
        assertThat(number).isGreaterThan(7 * (VolumeRig.SEGMENTS - 1));
        assertThat(rig.offer(tier, number, new byte[PAGE])).isTrue();
        TierRig.await(() -> tier.stats().queuedBytes() == 0);
        assertThat(rig.offer(tier, number, new byte[PAGE])).isFalse();
        assertThat(tier.stats().notKept()).containsEntry(NotKept.HELD, 1L);
        assertThat(TierRig.read(tier, number, PAGE)).isEqualTo(new byte[PAGE]);
    }

    @Test
    void aFullDiskIsWrittenAsTheBudgetAllows() {
        TierRig rig = new TierRig(leaks, 24 * 20L * PAGE, "a");
        DiskTier tier = rig.open();
        int number = 0;
        while (tier.stats().notKept().getOrDefault(NotKept.ONCE, 0L) == 0) {
            rig.offer(tier, ++number, new byte[PAGE]);
            TierRig.await(() -> tier.stats().queuedBytes() == 0);
        }
        long before = tier.stats().writtenPages();
        for (int i = 0; i < 200; i++) {
            int each = 1000 + i;
            rig.offer(tier, each, new byte[PAGE]);
            rig.offer(tier, each, new byte[PAGE]);
            TierRig.await(() -> tier.stats().queuedBytes() == 0);
        }
        assertThat(tier.stats().writtenPages() - before).isBetween(1L, 21L);
        assertThat(tier.stats().notKept().get(NotKept.BUDGET)).isGreaterThan(170);
    }

    @Test
    void smallObjectsStayInMemory() {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        assertThat(rig.offer(tier, 1, new byte[99])).isFalse();
        assertThat(tier.stats().notKept()).containsEntry(NotKept.SMALL, 1L);
    }

    @Test
    void aPageThatIsRefutedWhileItWaitsIsNotKept() {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        FaultyDisk disk = Objects.requireNonNull(rig.disks.get("a"));
        AtomicBoolean current = new AtomicBoolean(true);
        disk.hang();
        assertThat(rig.offer(tier, 1, bytes(1), current::get)).isTrue();
        current.set(false);
        disk.goOn();
        TierRig.await(() -> tier.stats().queuedBytes() == 0);
        assertThat(TierRig.read(tier, 1, PAGE - 1)).isNull();
        assertThat(tier.stats().notKept()).containsEntry(NotKept.OVERTAKEN, 1L);
    }

    @Test
    void aForgottenVersionIsNotFound() {
        TierRig rig = new TierRig(leaks, 0, "a");
        DiskTier tier = rig.open();
        write(rig, tier, 1);
        write(rig, tier, 2);
        tier.forget(TierRig.name(1, PAGE - 1), 0, 1);
        assertThat(TierRig.read(tier, 1, PAGE - 1)).isNull();
        assertThat(TierRig.read(tier, 2, PAGE - 2)).isEqualTo(bytes(2));
    }

    @Test
    void aDiskOfSomebodyElseIsLeftOut() {
        TierRig rig = new TierRig(leaks, 0, "a", "b");
        FaultyDisk foreign = Objects.requireNonNull(rig.disks.get("a"));
        foreign.content().fill((byte) 0x53);
        DiskTier tier = rig.open();
        assertThat(tier.stats().volumes()).isEqualTo(1);
        write(rig, tier, 1);
        assertThat(TierRig.read(tier, 1, PAGE - 1)).isEqualTo(bytes(1));
    }

    @Test
    @RequiresDirectFiles
    void aSecondGatewayIsRefusedTheFile() {
        String path = folder.resolve("disk").toString();
        DiskConfig config = new DiskConfig(List.of(path), DiskConfig.leastBytes(), 0, 100, PAGE,
                8L * PAGE, TierRig.HANGS);
        DiskTier tier = leaks.closing(DiskTier.open(config, System::nanoTime));
        TierRig.await(tier::isRecovered);
        assertThat(tier.stats().volumes()).isEqualTo(1);
        assertThat(DiskTier.check(config)).containsExactly(
                new DiskTrial(path, path + ": another process uses it", ""));
        DiskTier second = leaks.closing(DiskTier.open(config, System::nanoTime));
        TierRig.await(second::isRecovered);
        assertThat(second.stats().volumes()).isZero();
        tier.close();
        assertThat(DiskTier.check(config)).containsExactly(new DiskTrial(path, "", ""));
    }

    /** The check tells before the start what the start would tell in the log. */
    @Test
    @RequiresDirectFiles
    void theCheckSaysWhatWouldDropThePagesAlsoOfADiskInUse() {
        String path = folder.resolve("disk").toString();
        WrappingKeys key = WrappingKeys.parse("11".repeat(32));
        DiskTier tier = leaks.closing(DiskTier.open(config(path, 0, key), System::nanoTime));
        TierRig.await(tier::isRecovered);
        for (boolean inUse : new boolean[]{true, false}) {
            assertThat(DiskTier.check(config(path, 0, key)).getFirst().dropped()).isEmpty();
            assertThat(DiskTier.check(config(path, 0, WrappingKeys.parse("22".repeat(32)))))
                    .singleElement()
                    .satisfies(trial -> {
                        assertThat(trial.dropped()).contains("another key");
                        assertThat(trial.isInUse()).isEqualTo(inUse);
                    });
            assertThat(DiskTier.check(config(path, 0, null)).getFirst().dropped())
                    .contains("encrypt is off");
            DiskTrial larger = DiskTier.check(config(path, 1 << 20, key)).getFirst();
            assertThat(larger.dropped()).as(larger.problem()).contains("size of the disk");
            if (inUse) {
                tier.close();
            }
        }
        assertThat(DiskTier.check(config(path, 0, key)).getFirst().dropped()).isEmpty();
    }

    private static DiskConfig config(String path, long more, @Nullable WrappingKeys keys) {
        return new DiskConfig(List.of(path), DiskConfig.leastBytes() + more, 0, 100, PAGE,
                8L * PAGE, TierRig.HANGS, Map.of(), keys);
    }

    @Test
    void theCheckOfADiskThatHangsEnds() {
        CountDownLatch hangs = new CountDownLatch(1);
        List<DiskTrial> trials = VolumeFactory.trials(List.of("a", "b"), path -> {
            if (path.equals("a")) {
                awaitUninterrupted(hangs);
            }
            return new DiskTrial(path, "", "");
        }, Duration.ofSeconds(1));
        hangs.countDown();
        assertThat(trials).containsExactly(
                new DiskTrial("a", "a: it did not answer within 1 s", ""),
                new DiskTrial("b", "", ""));
    }

    @Test
    void aDiskThatHangsAtTheStartTakesPartOnceItAnswers() {
        TierRig rig = new TierRig(leaks, 0, "a", "b");
        FaultyDisk slow = Objects.requireNonNull(rig.disks.get("a"));
        slow.hang();
        DiskTier tier = rig.begin();
        TierRig.await(() -> tier.stats().recoveringVolumes() == 1);
        for (int i = 1; i <= 6; i++) {
            write(rig, tier, i);
            assertThat(TierRig.read(tier, i, PAGE - i)).isEqualTo(bytes(i));
        }
        assertThat(tier.isRecovered()).isFalse();
        slow.goOn();
        TierRig.await(tier::isRecovered);
        assertThat(tier.stats().volumes()).isEqualTo(2);
        for (int i = 1; i <= 6; i++) {
            assertThat(TierRig.read(tier, i, PAGE - i)).isEqualTo(bytes(i));
        }
        for (int i = 7; i <= 16; i++) {
            write(rig, tier, i);
            assertThat(TierRig.read(tier, i, PAGE - i)).isEqualTo(bytes(i));
        }
    }

    @Test
    void aDiskThatOpensAfterTheEndIsClosed() {
        TierRig rig = new TierRig(leaks, 0, "a");
        FaultyDisk slow = Objects.requireNonNull(rig.disks.get("a"));
        slow.hang();
        DiskTier tier = rig.begin();
        TierRig.await(() -> slow.hanging.get() == 1);
        tier.close();
        assertThat(slow.closed).isFalse();
        slow.goOn();
        TierRig.await(() -> slow.closed && tier.stats().volumes() == 0);
    }

    @Test
    void whateverTheOpeningThrowsTheOthersServe() {
        TierRig rig = new TierRig(leaks, 0, "a", "b");
        rig.disks.remove("a");
        DiskTier tier = rig.open();
        assertThat(tier.stats().volumes()).isEqualTo(1);
        write(rig, tier, 1);
    }

    @Test
    void disksThatHangAreClosedAtOnce() {
        TierRig rig = new TierRig(leaks, 0, "a", "b", "c", "d");
        DiskTier tier = rig.open();
        for (int i = 1; i <= 24; i++) {
            write(rig, tier, i);
        }
        rig.disks.values().forEach(FaultyDisk::hang);
        long begun = System.nanoTime();
        tier.close();
        // Five seconds for each, one after the other, would be twenty.
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(12));
        rig.disks.values().forEach(FaultyDisk::goOn);
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
