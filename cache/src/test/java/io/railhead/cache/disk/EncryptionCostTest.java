package io.railhead.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.os.DirectFile;
import io.railhead.os.Mapping;
import io.railhead.os.RequiresDirectFiles;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The processor's time for writing and reading pages, with and without encryption by turns.
 * {@code -Drailhead.cost.mib=512 -Drailhead.cost.rounds=7} takes long enough for a figure.
 */
@RequiresDirectFiles
final class EncryptionCostTest {
    private static final int MIB = Integer.getInteger("railhead.cost.mib", 64);
    private static final int ROUNDS = Integer.getInteger("railhead.cost.rounds", 1);
    private static final int PAGE = 256 << 10;

    @TempDir
    Path folder;

    private final Mapping memory = Mapping.anonymous(2L * PAGE);
    private final MemorySegment page = memory.segment().asSlice(0, PAGE);
    private final MemorySegment into = memory.segment().asSlice(PAGE, PAGE);

    /** The seconds of processor time for a GiB. */
    private record Cost(double written, double read) {}

    @Test
    void encryptedPagesComeBackAndCostMore() throws DiskRefusedException {
        byte[] bytes = new byte[PAGE];
        new Random(1).nextBytes(bytes);
        page.copyFrom(MemorySegment.ofArray(bytes));
        List<Cost> plain = new ArrayList<>();
        List<Cost> encrypted = new ArrayList<>();
        WrappingKeys keys = WrappingKeys.parse("11".repeat(32));
        for (int round = 0; round <= ROUNDS; round++) {
            Cost without = cost("plain", null);
            Cost with = cost("encrypted", keys);
            if (round > 0 || ROUNDS == 1) {
                plain.add(without);
                encrypted.add(with);
            }
        }
        System.out.printf(Locale.ROOT, "CPU s/GiB, median of %d: written %.3f, encrypted %.3f;"
                + " read %.3f, encrypted %.3f%n", plain.size(),
                median(plain.stream().mapToDouble(Cost::written).toArray()),
                median(encrypted.stream().mapToDouble(Cost::written).toArray()),
                median(plain.stream().mapToDouble(Cost::read).toArray()),
                median(encrypted.stream().mapToDouble(Cost::read).toArray()));
        memory.close();
    }

    private static double median(double[] values) {
        java.util.Arrays.sort(values);
        return values[values.length / 2];
    }

    private Cost cost(String name, @org.jspecify.annotations.Nullable WrappingKeys keys)
            throws DiskRefusedException {
        long size = Math.max(DiskLayout.leastBytes(), (MIB + 192L) << 20);
        DirectFile file = DirectFile.open(folder.resolve(name).toString(), size);
        DiskVolume volume = DiskVolume.of(file,
                new VolumeOpening(file, name, new SecureRandom(), keys)
                        .open(DiskLayout.of(size, PAGE)),
                Map.of());
        volume.recover(() -> false);
        SegmentWriter writer = new SegmentWriter(volume, System::nanoTime);
        int pages = MIB * 4;
        long begun = cpuNanos();
        // The CRC32C that a fill computes; not counted.
        CRC32C crc = new CRC32C();
        crc.update(page.asByteBuffer());
        for (int i = 0; i < pages; i++) {
            assertThat(writer.write(new SegmentWriter.Offered(volume.tenant("t"),
                    new PageIdentity(i, begun), version(volume), (int) crc.getValue(),
                    List.of(page), 0x7fffffffffffffffL, () -> true))).isNull();
        }
        long written = cpuNanos();
        for (int i = 0; i < pages; i++) {
            PageIdentity identity = new PageIdentity(i, begun);
            DiskIndex.Place place = volume.find(identity);
            assertThat(place).isNotNull();
            assertThat(volume.read(identity, place, List.of(into)))
                    .isEqualTo(PageReader.Outcome.RIGHT);
        }
        long read = cpuNanos();
        writer.close();
        volume.close();
        double gib = MIB / 1024.0;
        return new Cost((written - begun) / 1e9 / gib, (read - written) / 1e9 / gib);
    }

    private static VersionName.Digest version(DiskVolume volume) {
        return new VersionName("s", "n", "b", "k", "", "e", "", PAGE)
                .digest(volume.superblock.secret().bytes());
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory
                .getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
