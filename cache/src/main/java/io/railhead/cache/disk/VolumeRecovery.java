package io.railhead.cache.disk;

import io.railhead.os.Mapping;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * The reading of a volume's footers at the start, which fills its index. Pages are found as soon as
 * their footer was read. A segment without a whole footer counts as empty. Where the disk fails, it
 * is asked once more after the others; then the segment is left alone, since its pages may be good.
 */
final class VolumeRecovery {
    /** The time after which footers are tried again that could not be read. */
    private static final long RETRY_MILLIS = 1000;
    private static final long STEP_MILLIS = 50;
    private static final int RECOVERING_THREADS = 4;
    /** Fewer are not worth another thread. */
    private static final int SEGMENTS_PER_THREAD = 64;

    private final DiskVolume volume;
    private final BitSet failed = new BitSet();

    VolumeRecovery(DiskVolume volume) {
        this.volume = volume;
    }

    /**
     * Reads all footers.
     *
     * @param stop ends it early
     * @return the number of footers that were read
     */
    int run(BooleanSupplier stop) {
        int found = read(IntStream.range(0, volume.layout.segments()).toArray(), stop);
        if (!failed.isEmpty()) {
            pause(stop);
            int[] again = failed.stream().toArray();
            failed.clear();
            found += read(again, stop);
        }
        if (!stop.getAsBoolean()) {
            volume.recovered(found, failed);
        }
        return found;
    }

    /** Reads some footers, by several threads: one would wait for the drive most of the time. */
    private int read(int[] segments, BooleanSupplier stop) {
        AtomicInteger next = new AtomicInteger();
        AtomicInteger found = new AtomicInteger();
        Callable<Void> some = () -> {
            try (Mapping memory = Mapping.anonymous(volume.layout.footerBytes())) {
                for (int i = next.getAndIncrement(); i < segments.length
                        && !stop.getAsBoolean(); i = next.getAndIncrement()) {
                    found.addAndGet(read(segments[i], memory.segment()));
                }
            }
            return null;
        };
        int count = Math.clamp(segments.length / SEGMENTS_PER_THREAD, 1, RECOVERING_THREADS);
        try (ExecutorService threads = Executors.newFixedThreadPool(count,
                Thread.ofPlatform().daemon().name("railhead-disk-recover-", 0).factory())) {
            for (Future<Void> each : threads.invokeAll(Collections.nCopies(count, some))) {
                each.get();
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException("footers could not be read", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
        return found.get();
    }

    private int read(int segment, MemorySegment memory) {
        try {
            SegmentFooter footer = volume.readFooter(segment, memory);
            if (footer == null) {
                return 0;
            }
            volume.adopt(segment, footer);
            return 1;
        } catch (OsException e) {
            synchronized (failed) {
                failed.set(segment);
            }
            return 0;
        }
    }

    private static void pause(BooleanSupplier stop) {
        for (long waited = 0; waited < RETRY_MILLIS
                && !stop.getAsBoolean(); waited += STEP_MILLIS) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(STEP_MILLIS));
        }
    }
}
