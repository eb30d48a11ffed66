package io.railhead.cache.writeback;

import io.railhead.os.BlockFile;
import io.railhead.os.Mapping;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The threads that move chunks between memory and the file, and their memory: two chunks for each
 * upload, one for each thread that reads. Any thread; nothing blocks but {@link #close}.
 */
final class ChunkWorkers implements AutoCloseable {
    private static final int THREADS = 4;
    private static final int MOST_UPLOADS = 64;
    private static final long CLOSE_SECONDS = 10;

    private final BlockFile file;
    private final int chunkBytes;
    private final Mapping memory;
    private final BlockingQueue<MemorySegment> pairs = new ArrayBlockingQueue<>(MOST_UPLOADS);
    private final BlockingQueue<MemorySegment> forReads = new ArrayBlockingQueue<>(THREADS);
    private final ExecutorService threads;

    ChunkWorkers(BlockFile file, int chunkBytes) {
        this.file = file;
        this.chunkBytes = chunkBytes;
        this.memory = Mapping.anonymous((2L * MOST_UPLOADS + THREADS) * chunkBytes);
        for (int i = 0; i < MOST_UPLOADS; i++) {
            pairs.add(memory.segment().asSlice(2L * i * chunkBytes, 2L * chunkBytes));
        }
        for (int i = 0; i < THREADS; i++) {
            forReads.add(memory.segment()
                    .asSlice((2L * MOST_UPLOADS + i) * chunkBytes, chunkBytes));
        }
        this.threads = Executors.newFixedThreadPool(THREADS,
                Thread.ofPlatform().daemon().name("railhead-write-log-chunk-", 0).factory());
    }

    /**
     * Returns null if as many writes arrive as there is memory for. The log excludes {@link #close}
     * meanwhile.
     */
    @Nullable
    LogUpload tryUpload(WriteLog log, String owner, long lengthBytes, List<Extent> extents,
            int recordBytes) {
        MemorySegment pair = pairs.poll();
        return pair == null
                ? null
                : new LogUpload(log, owner, this, pair, lengthBytes, extents, recordBytes);
    }

    /** Takes an upload's memory back, which no thread uses any more. */
    void release(MemorySegment pair) {
        pairs.add(pair);
    }

    int chunkBytes() {
        return chunkBytes;
    }

    BlockFile file() {
        return file;
    }

    /** Runs a step on one of the threads. */
    CompletableFuture<@Nullable Void> run(Runnable step) {
        return supply(() -> {
            step.run();
            return null;
        });
    }

    private <T extends @Nullable Object> CompletableFuture<T> supply(Supplier<T> step) {
        try {
            return CompletableFuture.supplyAsync(step, threads);
        } catch (RejectedExecutionException e) {
            return CompletableFuture
                    .failedFuture(new LogUnusableException("the log is closed", e));
        }
    }

    /** Runs a step with memory for one chunk, on one of the threads. */
    <T> CompletableFuture<T> runWithMemory(Function<MemorySegment, T> step) {
        return supply(() -> {
            // Each thread needs one at a time, so there is one.
            MemorySegment chunk = forReads.remove();
            try {
                return step.apply(chunk);
            } finally {
                forReads.add(chunk);
            }
        });
    }

    @Override
    public void close() {
        threads.shutdown();
        boolean ended = false;
        try {
            ended = threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (ended && pairs.size() == MOST_UPLOADS) {
            // An upload that nobody has ended may still copy into its memory.
            memory.close();
        }
    }
}
