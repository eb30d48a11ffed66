package io.railhead.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import io.railhead.cache.memory.LeakCheck;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The memory and the start of a full disk, whose footers are made up.
 * {@code -Drailhead.disk.terabytes=10} takes a real one's size; the drive's own time is not in it.
 */
final class LargeDiskTest {
    private static final double TERABYTES = Double
            .parseDouble(System.getProperty("railhead.disk.terabytes", "0.1"));
    private static final int PAGE = 256 << 10;
    private static final double GOAL_TERABYTES = 10;
    private static final double OFF_HEAP = 2e9;
    private static final double HEAP = 100e6;
    /** The heap's own variation, whatever the disk's size. */
    private static final double NOISE = 8e6;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    @Test
    void aFullDiskIsKnownSoonAndItsIndexIsSmall() {
        long before = heap();
        SyntheticDisk disk = new SyntheticDisk((long) (TERABYTES * 1e12), PAGE,
                size -> TierRig.name(1, size));
        DiskConfig config = new DiskConfig(List.of("disk"), 0, 0, 100, PAGE, 8L * PAGE,
                Duration.ofSeconds(60));
        OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory
                .getOperatingSystemMXBean();
        long cpu = process.getProcessCpuTime();
        long begun = System.nanoTime();
        DiskTier tier = leaks.closing(DiskTier.open(config,
                new VolumeFactory(config, (path, bytes) -> disk, DiskLayout::of),
                System::nanoTime));
        VersionName known = TierRig.name(1, PAGE);
        while (tier.held(known).holder(0) == DiskTier.NOBODY) {
            pause();
        }
        assertThat(TierRig.read(tier, 1, PAGE)).isEqualTo(new byte[PAGE]);
        long hit = System.nanoTime();
        while (!tier.isRecovered()) {
            pause();
        }
        long recovered = System.nanoTime();
        double used = (process.getProcessCpuTime() - cpu) / 1e9;
        DiskStats stats = tier.stats();
        long heap = heap() - before;
        double scale = TERABYTES / GOAL_TERABYTES;
        System.out.printf("%.1f TB: %,d pages; first hit after %.3f s; all known after %.1f s and"
                + " %.1f s of processor time, of which %.1f s made footers up; %.3f GB outside the heap; %.1f MB in it%n",
                TERABYTES, stats.pages(), (hit - begun) / 1e9, (recovered - begun) / 1e9, used,
                disk.synthesisNanos() / 1e9, stats.indexBytes() / 1e9, heap / 1e6);
        assertThat(stats.pages()).isGreaterThan((long) (0.99 * TERABYTES * 1e12 / PAGE));
        assertThat((double) stats.indexBytes()).isLessThanOrEqualTo(OFF_HEAP * scale);
        assertThat((double) heap).isLessThanOrEqualTo(HEAP * scale + NOISE);
    }

    private static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
