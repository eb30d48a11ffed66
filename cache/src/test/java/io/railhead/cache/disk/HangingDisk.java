package io.railhead.cache.disk;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A tier over one disk in memory that hangs as it is told, for tests of other packages. */
public final class HangingDisk {
    private static final long SEGMENT_BYTES = 1 << 20;
    private static final int FOOTER_BYTES = 16 << 10;

    private final FaultyDisk disk;

    public HangingDisk(long bytes) {
        disk = new FaultyDisk(bytes);
    }

    /** Opens a tier, which is {@link DiskTier#isRecovered} a moment later. */
    public DiskTier open(int pageBytes, long queueBytes, Duration hangs) {
        return open(pageBytes, queueBytes, hangs, null);
    }

    /** @param keys null for no encryption */
    public DiskTier open(int pageBytes, long queueBytes, Duration hangs,
            @Nullable WrappingKeys keys) {
        DiskConfig config = new DiskConfig(List.of("disk"), 0, 0, 1, pageBytes, queueBytes, hangs,
                Map.of(), keys);
        return DiskTier.open(config, new VolumeFactory(config, (path, bytes) -> disk,
                (size, page) -> new DiskLayout(size, SEGMENT_BYTES, FOOTER_BYTES, page)),
                System::nanoTime);
    }

    /** From now on each read and write runs this first, on its own thread. */
    public void onCall(Runnable hook) {
        disk.onCall = hook;
    }

    /** From now on reads and writes wait for {@link #goOn}. */
    public void hang() {
        disk.hang();
    }

    /** From now on writes wait for {@link #goOn}. */
    public void hangWrites() {
        disk.hangWrites();
    }

    /** From now on reads fail, or not any more. */
    public void failReads(boolean fail) {
        disk.failReads(fail);
    }

    public void goOn() {
        disk.goOn();
    }

    /** Returns how many calls hang now. */
    public int hanging() {
        return disk.hanging.get();
    }
}
