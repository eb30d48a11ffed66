package io.railhead.gateway.object.writeback;

import io.railhead.cache.writeback.WriteLog;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The steps of all queues, over the stores and the log. Any thread; nothing blocks.
 *
 * @param writer gives null before the start
 * @param onForgotten called on the log's thread once a restart finds the write no more
 */
record QueueSteps(Supplier<@Nullable StoreWriter> writer, WriteLog log, WriteBackCounts counts,
        Consumer<PendingWrite> onForgotten,
        ScheduledExecutorService timer) implements BucketQueue.Steps {

    @Override
    public CompletionStage<StoreWriter.Outcome> write(PendingWrite next) {
        StoreWriter to = writer.get();
        if (to == null) {
            throw new IllegalStateException("not started");
        }
        return to.write(next).whenComplete((outcome, _) -> {
            if (outcome instanceof StoreWriter.Outcome.Written) {
                counts.writtenBytes().add(next.sizeBytes());
            } else {
                counts.failedTries().increment();
            }
        });
    }

    @Override
    public CompletionStage<?> forget(PendingWrite written) {
        return log.commit(List.of(), written.entries(), _ -> onForgotten.accept(written));
    }

    @Override
    public void later(Runnable step, Duration pause) {
        try {
            var _ = timer.schedule(step, pause.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            // Closed: the next start goes on.
            return;
        }
    }
}
