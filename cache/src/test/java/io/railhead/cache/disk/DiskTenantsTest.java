package io.railhead.cache.disk;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.disk.DiskConfig.Share;
import io.railhead.cache.disk.SegmentShares.Limits;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tenants' segments, quotas and floors. */
final class DiskTenantsTest {
    /** Of full length. */
    private static final int PAGES_PER_SEGMENT = 7;

    private final FaultyDisk disk = new FaultyDisk(VolumeRig.SIZE);

    private static int count(VolumeRig rig, String tenant) {
        return rig.volume.shares.count(rig.volume.tenant(tenant));
    }

    private static void fill(VolumeRig rig, String tenant, int first, int segments) {
        rig.as(tenant);
        for (int i = 0; i < segments * PAGES_PER_SEGMENT; i++) {
            assertThat(rig.write(4 * (first + i))).isTrue();
        }
    }

    @Test
    void tenantsShareTheDiskEvenly() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            fill(rig, "a", 0, 12);
            assertThat(count(rig, "a")).isEqualTo(VolumeRig.SEGMENTS);
            fill(rig, "b", 1000, 12);
            assertThat(count(rig, "a")).isEqualTo(3);
            assertThat(count(rig, "b")).isEqualTo(3);
            fill(rig, "a", 2000, 12);
            assertThat(count(rig, "a")).isEqualTo(3);
            // The youngest of each are there.
            assertThat(rig.read(4 * (1000 + 12 * PAGES_PER_SEGMENT - 1))).isNotNull();
            assertThat(rig.read(4 * (2000 + 12 * PAGES_PER_SEGMENT - 1))).isNotNull();
        }
    }

    @Test
    void quotasAndFloorsHoldAndAfterARestart() throws DiskRefusedException {
        Map<String, Share> tenants = Map.of("floor", new Share(1, 0.5), "quota",
                new Share(0.34, 0));
        try (VolumeRig rig = new VolumeRig(disk, tenants)) {
            fill(rig, "quota", 0, 12);
            assertThat(count(rig, "quota")).isEqualTo(2);
            assertThat(rig.volume.isFullFor(rig.volume.tenant("quota"))).isTrue();
            assertThat(rig.volume.isFullFor(rig.volume.tenant("floor"))).isFalse();
            fill(rig, "floor", 1000, 3);
            rig.writer.seal();
        }
        try (VolumeRig rig = new VolumeRig(disk, tenants)) {
            fill(rig, "other", 2000, 40);
            assertThat(count(rig, "floor")).isEqualTo(3);
            for (int i = 0; i < 3 * PAGES_PER_SEGMENT; i++) {
                assertThat(rig.read(4 * (1000 + i))).isNotNull();
            }
            assertThat(count(rig, "quota") + count(rig, "other")).isEqualTo(3);
        }
    }

    @Test
    void oneMoreTenantThanSegmentsMayBeOpenWaitsForAnIdleOne() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            int open = VolumeRig.SEGMENTS / 2;
            for (int i = 0; i < open; i++) {
                assertThat(rig.as("tenant-" + i).write(4 * i)).isTrue();
            }
            assertThat(rig.as("late").write(400)).isFalse();
            assertThat(rig.as("tenant-0").write(404)).isTrue();
            rig.clock.addAndGet(SegmentWriter.IDLE.toNanos() / 2);
            assertThat(rig.as("tenant-0").write(408)).isTrue();
            rig.clock.addAndGet(SegmentWriter.IDLE.toNanos() / 2 + 1);
            // The one that was not used for the longest time is sealed.
            assertThat(rig.as("late").write(400)).isTrue();
            assertThat(rig.writer.sealed.sum()).isEqualTo(1);
            assertThat(rig.read(4)).isNotNull();
        }
    }

    /** Floors and quotas as random tenants write, beside a plain count. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void nobodyIsPushedBelowAFloor(long seed) {
        Random random = new Random(seed);
        int segments = 40;
        Map<TenantId, Limits> rules = new HashMap<>();
        int floors = 0;
        for (int i = 0; i < 5; i++) {
            int floor = random.nextInt(1 + (segments - floors) / 2);
            floors += floor;
            rules.put(new TenantId(i, i), new Limits(
                    Math.max(1, floor + random.nextInt(segments)), floor));
        }
        SegmentShares shares = new SegmentShares(segments, rules);
        long[] sequences = new long[segments];
        long last = 0;
        for (int step = 0; step < 5000; step++) {
            TenantId tenant = new TenantId(random.nextInt(8), 0);
            tenant = new TenantId(tenant.high(), tenant.high());
            int chosen = shares.choose(tenant, new SegmentShares.Segments() {
                @Override
                public long sequence(int segment) {
                    return sequences[segment];
                }

                @Override
                public boolean isUsable(int segment) {
                    return true;
                }
            }, false);
            if (chosen == SegmentShares.NONE) {
                assertThat(shares.count(tenant)).isZero();
                continue;
            }
            TenantId before = shares.owner(chosen);
            if (before != null && !before.equals(tenant)) {
                assertThat(shares.count(before)).as("seed " + seed)
                        .isGreaterThan(rules.getOrDefault(before, Limits.NO_RULE).floor());
            }
            sequences[chosen] = ++last;
            shares.owns(chosen, tenant);
            assertThat(shares.count(tenant)).as("seed " + seed)
                    .isLessThanOrEqualTo(
                            rules.getOrDefault(tenant, Limits.NO_RULE).quota());
        }
        assertThat(last).isGreaterThan(3000);
    }

    /**
     * Tenants write and the disk turns over many times, with failing writes. What a segment holds
     * that was sealed is its tenant's alone, byte by byte.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void aTenantsBytesAreNeverInAnothersSegment(long seed) throws DiskRefusedException {
        Random random = new Random(seed);
        List<String> names = List.of("CANARY-A", "CANARY-B", "CANARY-C");
        VolumeRig rig = new VolumeRig(disk);
        int checked = 0;
        for (int step = 0; step < 600; step++) {
            String tenant = names.get(random.nextInt(names.size()));
            byte[] page = tenant.repeat(1 + random.nextInt(1500)).getBytes(US_ASCII);
            disk.failWrites(random.nextInt(20) == 0);
            try {
                boolean _ = rig.as(tenant).write(random.nextInt(1 << 20), page);
            } catch (io.railhead.os.OsException e) {
                assertThat(e).hasMessageContaining("told to fail");
            }
            disk.failWrites(false);
            rig.clock.addAndGet(SegmentWriter.IDLE.toNanos() / 10);
            if (random.nextInt(100) == 0) {
                rig.writer.seal();
                checked += check(rig, disk, names);
            }
            if (random.nextInt(100) == 0) {
                rig.close();
                rig = new VolumeRig(disk);
            }
        }
        rig.writer.seal();
        checked += check(rig, disk, names);
        assertThat(checked).isGreaterThan(10);
        rig.close();
    }

    /** The end of a gateway has some seconds, and zeroing takes more of them than footers. */
    @Test
    void anEndThatIsCutShortKeepsAllPagesAndZeroesOthersBytesLater() throws DiskRefusedException {
        Map<String, Share> quotas = Map.of("CANARY-B", new Share(0.17, 0));
        FaultyDisk cut;
        try (VolumeRig rig = new VolumeRig(disk, quotas)) {
            byte[] page = "CANARY-A".repeat(2048).getBytes(US_ASCII);
            rig.as("CANARY-A");
            for (int i = 0; i < VolumeRig.SEGMENTS * PAGES_PER_SEGMENT; i++) {
                assertThat(rig.write(1000 + i, page)).isTrue();
            }
            assertThat(rig.as("CANARY-B").write(4)).isTrue();
            assertThat(rig.as("CANARY-C").write(8)).isTrue();
            // The three footers, and a torn write.
            disk.cutAfter(4);
            rig.writer.seal();
            cut = disk.copy();
        }
        try (VolumeRig rig = new VolumeRig(cut, quotas)) {
            assertThat(rig.read(1000 + VolumeRig.SEGMENTS * PAGES_PER_SEGMENT - 1)).isNotNull();
            assertThat(rig.read(8)).isNotNull();
            assertThat(rig.read(4)).isNotNull();
            assertThat(rig.as("CANARY-B").write(12)).isTrue();
            rig.writer.seal();
            assertThat(rig.volume.shares.count(rig.volume.tenant("CANARY-B"))).isEqualTo(1);
            int segment = rig.volume.shares.segmentsOf(rig.volume.tenant("CANARY-B")).nextSetBit(0);
            int from = (int) (DiskLayout.SEGMENTS_AT + segment * VolumeRig.SEGMENT);
            assertThat(contains(cut.content().toArray(JAVA_BYTE), from,
                    (int) (from + VolumeRig.SEGMENT), "CANARY-A")).isFalse();
        }
    }

    @Test
    void noTimeLeftAtTheEndLeavesOutZeroesAndNoFooter() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk)) {
            fill(rig, "a", 0, VolumeRig.SEGMENTS);
            rig.as("b").write(4000);
            rig.as("c").write(4004);
            long written = rig.writer.writtenBytes.sum();
            rig.writer.seal(() -> true);
            assertThat(rig.writer.writtenBytes.sum()).isEqualTo(written);
        }
        try (VolumeRig rig = new VolumeRig(disk)) {
            assertThat(rig.read(4000)).isNotNull();
            assertThat(rig.read(4004)).isNotNull();
        }
    }

    private static int check(VolumeRig rig, FaultyDisk disk, List<String> names) {
        byte[] image = disk.content().toArray(JAVA_BYTE);
        int checked = 0;
        for (int segment = 0; segment < VolumeRig.SEGMENTS; segment++) {
            TenantId owner = rig.volume.shares.owner(segment);
            if (owner == null || rig.volume.sequence(segment) == 0) {
                continue;
            }
            checked++;
            int from = (int) (DiskLayout.SEGMENTS_AT + segment * VolumeRig.SEGMENT);
            for (String name : names) {
                if (!rig.volume.tenant(name).equals(owner)) {
                    assertThat(contains(image, from, (int) (from + VolumeRig.SEGMENT), name))
                            .as(name + " in segment " + segment)
                            .isFalse();
                }
            }
        }
        return checked;
    }

    private static boolean contains(byte[] image, int from, int to, String text) {
        byte[] wanted = text.getBytes(US_ASCII);
        for (int at = from; at + wanted.length <= to; at++) {
            if (image[at] == wanted[0] && Arrays.equals(image, at, at + wanted.length, wanted, 0,
                    wanted.length)) {
                return true;
            }
        }
        return false;
    }
}
