package io.railhead.cache.disk;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.disk.EvictedNames.Kind;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import javax.crypto.SecretKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Volumes with a key for each tenant. */
final class DiskEncryptionTest {
    private static final String ONE = "11".repeat(32);
    private static final String OTHER = "22".repeat(32);
    private static final WrappingKeys KEYS = WrappingKeys.parse(ONE);

    private FaultyDisk disk = new FaultyDisk(VolumeRig.SIZE);

    @Test
    void pagesComeBackAndSoAfterARestart() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk, KEYS)) {
            for (int i = 0; i < 20; i++) {
                assertThat(rig.write(i)).isTrue();
                assertThat(rig.read(i)).isEqualTo(VolumeRig.bytes(i));
            }
            rig.writer.seal();
        }
        try (VolumeRig rig = new VolumeRig(disk, KEYS)) {
            for (int i = 0; i < 20; i++) {
                assertThat(rig.read(i)).as("page " + i).isEqualTo(VolumeRig.bytes(i));
            }
        }
    }

    /** Random writes, closings and power cuts: what is read is right, and most is found. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void itGivesOutOnlyWhatWasWritten(long seed) throws DiskRefusedException {
        Random random = new Random(seed);
        VolumeRig rig = new VolumeRig(disk, KEYS);
        int found = 0;
        for (int step = 0; step < 2000; step++) {
            int number = random.nextInt(400);
            int kind = random.nextInt(100);
            if (kind < 2) {
                if (kind == 0) {
                    rig.writer.seal();
                }
                rig.close();
                rig = new VolumeRig(disk, KEYS);
            } else if (kind == 2) {
                disk.cutAfter(1 + random.nextInt(10));
                for (int i = 0; i < 10; i++) {
                    rig.write(random.nextInt(400));
                }
                disk = disk.copy();
                rig.close();
                rig = new VolumeRig(disk, KEYS);
            } else {
                rig.as("tenant-" + random.nextInt(3));
                if (random.nextBoolean()) {
                    rig.write(number);
                }
                byte[] read = rig.read(number);
                if (read != null) {
                    found++;
                    assertThat(read).as("seed " + seed).isEqualTo(VolumeRig.bytes(number));
                }
            }
        }
        assertThat(found).as("seed " + seed).isGreaterThan(100);
        rig.close();
    }

    @Test
    void noFlippedBitIsGivenOut() throws DiskRefusedException {
        Random random = new Random(7);
        try (VolumeRig rig = new VolumeRig(disk, KEYS)) {
            for (int i = 0; i < 60; i++) {
                rig.write(i);
            }
            rig.writer.seal();
        }
        for (int round = 0; round < 20; round++) {
            FaultyDisk flipped = disk.copy();
            for (int i = 0; i < 500; i++) {
                flipped.flipBit(8L * (1 << 20)
                        + random.nextLong(8 * VolumeRig.SEGMENTS * VolumeRig.SEGMENT));
            }
            try (VolumeRig rig = new VolumeRig(flipped, KEYS)) {
                for (int i = 0; i < 60; i++) {
                    byte[] read = rig.read(i);
                    assertThat(read == null || Arrays.equals(read, VolumeRig.bytes(i))).isTrue();
                }
            }
        }
    }

    @Test
    void theImageHasNeitherBytesNorNames() throws DiskRefusedException {
        byte[] canary = "CANARY-OF-A-TENANT".getBytes(US_ASCII);
        byte[] page = "CANARY-OF-A-TENANT".repeat(500).getBytes(US_ASCII);
        byte[] identity;
        try (VolumeRig rig = new VolumeRig(disk, KEYS)) {
            for (int i = 0; i < 20; i++) {
                assertThat(rig.write(i, page)).isTrue();
            }
            rig.evict(new EvictedNames("bucket", "key-19", Kind.PREFIX));
            rig.writer.seal();
            identity = java.nio.ByteBuffer.allocate(8)
                    .order(java.nio.ByteOrder.LITTLE_ENDIAN)
                    .putLong(rig.identity(3).high())
                    .array();
            assertThat(rig.read(3)).isEqualTo(page);
        }
        byte[] image = disk.content().toArray(JAVA_BYTE);
        for (byte[] absent : List.of(canary, "bucket".getBytes(US_ASCII),
                "key-19".getBytes(US_ASCII), identity)) {
            for (int at = 0; at + absent.length <= image.length; at++) {
                assertThat(image[at] == absent[0] && Arrays.equals(image, at, at + absent.length,
                        absent, 0, absent.length)).as("at " + at).isFalse();
            }
        }
    }

    @Test
    void anotherKeyOrNoneDropsThePages() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk, KEYS)) {
            rig.write(0);
            rig.writer.seal();
        }
        for (WrappingKeys keys : new WrappingKeys[]{WrappingKeys.parse(OTHER), null}) {
            FaultyDisk copy = disk.copy();
            try (VolumeRig rig = new VolumeRig(copy, keys)) {
                assertThat(rig.read(0)).isNull();
                assertThat(rig.write(0)).isTrue();
                assertThat(rig.read(0)).isEqualTo(VolumeRig.bytes(0));
            }
        }
    }

    @Test
    void theKeyFromOutsideCanBeReplaced() throws DiskRefusedException {
        for (String keys : new String[]{ONE, OTHER + "\n" + ONE, OTHER}) {
            try (VolumeRig rig = new VolumeRig(disk, WrappingKeys.parse(keys))) {
                if (keys.equals(ONE)) {
                    rig.write(0);
                    rig.writer.seal();
                }
                assertThat(rig.read(0)).as(keys).isEqualTo(VolumeRig.bytes(0));
            }
        }
        try (VolumeRig rig = new VolumeRig(disk, KEYS)) {
            assertThat(rig.read(0)).isNull();
        }
    }

    /** An old copy of the disk may be kept: but without the key table of then it is of no use. */
    @Test
    void anErasedTenantCannotBeReadByAnybody() throws DiskRefusedException {
        TenantId gone;
        try (VolumeRig rig = new VolumeRig(disk, KEYS)) {
            for (int i = 0; i < 12; i++) {
                rig.as("gone").write(4 * i);
                rig.as("stays").write(400 + 4 * i);
            }
            gone = rig.volume.tenant("gone");
            SegmentWriter.Offered waiting = rig.as("gone")
                    .offered(999, 0,
                            MemorySegment.NULL, () -> true);
            rig.writer.erase(gone, Objects.requireNonNull(rig.volume.keys), () -> {});
            for (int i = 0; i < 12; i++) {
                assertThat(rig.read(4 * i)).isNull();
                assertThat(rig.read(400 + 4 * i)).isNotNull();
            }
            assertThat(rig.writer.write(waiting)).isEqualTo(DiskStats.NotKept.OVERTAKEN);
            assertThat(rig.volume.shares.count(gone)).isZero();
            rig.writer.seal();
        }
        try (VolumeRig rig = new VolumeRig(disk, KEYS)) {
            assertThat(Objects.requireNonNull(rig.volume.keys).find(gone)).isNull();
            for (int i = 0; i < 12; i++) {
                assertThat(rig.read(4 * i)).isNull();
                assertThat(rig.read(400 + 4 * i)).isNotNull();
            }
            assertThat(rig.as("gone").write(0)).isTrue();
            assertThat(rig.read(0)).isNotNull();
        }
        // Neither copy of the table names the tenant's former key.
        FaultyDisk older = disk.copy();
        older.content()
                .asSlice(DiskLayout.KEYS_AT, DiskLayout.KEYS_BYTES / 2)
                .fill((byte) 0);
        try (VolumeRig rig = new VolumeRig(older, KEYS)) {
            assertThat(rig.read(4)).isNull();
        }
    }

    /** The names would have readers ask the store twice; a full disk keeps second touches only. */
    @Test
    void anErasedTenantLeavesNoNamesAndMakesRoom() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk, KEYS)) {
            int pages = 12 * 7;
            for (int i = 0; i < pages; i++) {
                rig.as("gone").write(4 * i);
            }
            assertThat(rig.volume.isFullFor(rig.volume.tenant("other"))).isTrue();
            AtomicInteger steps = new AtomicInteger();
            int unread = rig.writer.erase(rig.volume.tenant("gone"),
                    Objects.requireNonNull(rig.volume.keys), steps::incrementAndGet);
            assertThat(unread).isZero();
            assertThat(steps).hasValue(VolumeRig.SEGMENTS - 1);
            for (int i = 0; i < pages; i++) {
                assertThat(rig.volume.mayHave(rig.digest(4 * i))).as("page " + i).isFalse();
            }
            assertThat(rig.volume.isFullFor(rig.volume.tenant("other"))).isFalse();
            assertThat(rig.as("other").write(0)).isTrue();
            assertThat(rig.volume.mayHave(rig.digest(0))).isTrue();
        }
    }

    @Test
    void damagedKeyTablesDropPagesOnly() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(disk, KEYS)) {
            rig.write(0);
            rig.writer.seal();
        }
        disk.content().asSlice(DiskLayout.KEYS_AT, DiskLayout.KEYS_BYTES).fill((byte) 5);
        try (VolumeRig rig = new VolumeRig(disk, KEYS)) {
            assertThat(rig.read(0)).isNull();
            assertThat(rig.write(0)).isTrue();
            assertThat(rig.read(0)).isNotNull();
            rig.writer.seal();
        }
        try (VolumeRig rig = new VolumeRig(disk, KEYS)) {
            assertThat(rig.read(0)).isNotNull();
        }
    }

    /**
     * Crashes that lose the open segment, whose number is then used again: the epoch differs, so no
     * nonce comes twice under a key. Superblocks are damaged now and then, too.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void noNonceComesTwiceUnderAKey(long seed) throws DiskRefusedException {
        Random random = new Random(seed);
        Set<List<Object>> used = new HashSet<>();
        Map<Long, Set<Integer>> lives = new HashMap<>();
        for (int life = 0; life < 60; life++) {
            try (VolumeRig rig = new VolumeRig(disk, KEYS)) {
                for (int i = 0; i < random.nextInt(30); i++) {
                    disk.failWrites(random.nextInt(10) == 0);
                    try {
                        boolean _ = rig.as("tenant-" + random.nextInt(2))
                                .write(random.nextInt(400));
                    } catch (io.railhead.os.OsException e) {
                        assertThat(e).hasMessageContaining("told to fail");
                    }
                    disk.failWrites(false);
                }
                if (random.nextBoolean()) {
                    rig.writer.seal();
                }
                for (PageCipher.Context context : rig.encrypted) {
                    SecretKey key = context.key();
                    assertThat(used.add(List.of(Arrays.hashCode(key.getEncoded()),
                            context.nonce()))).as("seed " + seed + ": " + context.nonce())
                            .isTrue();
                    lives.computeIfAbsent(context.nonce().sequence(), _ -> new HashSet<>())
                            .add(life);
                }
            }
            disk = disk.copy();
            if (random.nextInt(4) == 0) {
                long at = random.nextBoolean() ? 0 : VolumeRig.SIZE - 4096;
                disk.content().set(JAVA_BYTE, at + 40, (byte) random.nextInt(256));
            }
        }
        // Or the test would show nothing.
        assertThat(lives.values()).anyMatch(each -> each.size() > 1);
        assertThat(used.size()).isGreaterThan(300);
    }

    @Test
    void keysAreHexOrBase64() {
        byte[] key = new byte[32];
        Arrays.fill(key, (byte) 0x11);
        assertThat(WrappingKeys.parse(java.util.Base64.getEncoder().encodeToString(key) + "\n\n"))
                .isEqualTo(KEYS)
                .hasToString("...");
        for (String wrong : new String[]{"", "1111", "x".repeat(64), ONE + "00"}) {
            assertThatThrownBy(() -> WrappingKeys.parse(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .message()
                    .doesNotContain("1111")
                    .doesNotContain("xxx");
        }
    }
}
