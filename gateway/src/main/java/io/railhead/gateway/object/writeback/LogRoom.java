package io.railhead.gateway.object.writeback;

import io.railhead.cache.writeback.LogOwner;
import io.railhead.cache.writeback.LogUpload;
import io.railhead.cache.writeback.WriteLog;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Waits for room in the log. A part cannot go to the store instead, since its upload is in the log.
 * Any thread; nothing blocks.
 *
 * @param patience the longest wait
 * @param onRefusal learns whether the owner holds its share of the log
 */
record LogRoom(WriteLog log, Duration patience, LongSupplier nanoClock,
        Consumer<Boolean> onRefusal) {
    private static final long LOOK_MILLIS = 20;
    /** Uploads begin at the store while more than this is taken, of the log or of a share. */
    private static final int MOST_PERCENT = 75;

    /** Returns whether an upload that begins now will probably find room for its parts. */
    boolean isThereForUploads(LogOwner owner) {
        WriteLog.Stats now = log.stats();
        long taken = now.capacityBytes() - now.freeBytes();
        return !now.failed() && taken <= now.capacityBytes() / 100 * MOST_PERCENT
                && !log.hasTaken(owner, MOST_PERCENT);
    }

    /**
     * Reserves room for a part. After {@link #patience} the stage fails with {@code SlowDown}; if
     * the log has failed, with {@code ServiceUnavailable} at once.
     */
    CompletionStage<LogUpload> of(LogOwner owner, long lengthBytes) {
        CompletableFuture<LogUpload> found = new CompletableFuture<>();
        look(owner, lengthBytes, nanoClock.getAsLong() + patience.toNanos(), found);
        return found;
    }

    private void look(LogOwner owner, long lengthBytes, long deadlineNanos,
            CompletableFuture<LogUpload> found) {
        LogUpload room = log.tryBegin(owner, lengthBytes);
        if (room != null) {
            found.complete(room);
        } else if (log.stats().failed()) {
            found.completeExceptionally(new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                    "The disk of the gateway's write-back log has failed."));
        } else if (nanoClock.getAsLong() - deadlineNanos >= 0) {
            boolean isTooMuch = log.isTooMuch(owner, lengthBytes);
            onRefusal.accept(isTooMuch);
            found.completeExceptionally(new S3Refusal(S3Error.SLOW_DOWN, isTooMuch
                    ? "The tenant holds its share of the gateway's write-back log: send the part"
                            + " again later."
                    : "The gateway's write-back log has no room for the part: send it again"
                            + " later."));
        } else {
            CompletableFuture.delayedExecutor(LOOK_MILLIS, TimeUnit.MILLISECONDS)
                    .execute(() -> look(owner, lengthBytes, deadlineNanos, found));
        }
    }
}
