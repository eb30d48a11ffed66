package io.railhead.gateway.object.writeback;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A writer's wait for the store to have its objects that were acknowledged at the disk. It ends at
 * a sequence number: writes that are acknowledged later are not waited for. Any thread; nothing
 * blocks.
 */
public final class Flush {
    private final WriteBack writeBack;
    private final Scope scope;
    private final long through;
    private final CompletableFuture<@Nullable Void> timeIsOver = new CompletableFuture<>();

    /**
     * The objects that are waited for: those of one principal in a bucket.
     *
     * @param prefix begins their keys, decoded; "" for all
     */
    public record Scope(String principal, String bucket, String prefix) {

        private boolean has(PendingWrite write) {
            return write.isOf(principal) && write.name().bucket().equals(bucket)
                    && write.key().startsWith(prefix);
        }
    }

    /**
     * The objects that the store does not have yet.
     *
     * @param objects their number; 0 once the store has all
     * @param problem the reason why the store refuses one of them; "" for none
     * @param discarded the key of one that an administrator has discarded, which the store never
     *            gets; "" for none
     * @param through the last write that was waited for; another wait goes on with it
     */
    public record Left(int objects, long bytes, String problem, String discarded, long through) {}

    private Flush(WriteBack writeBack, Scope scope, long through) {
        this.writeBack = writeBack;
        this.scope = scope;
        this.through = through;
    }

    /**
     * Waits for all that is pending now. The stage ends after this time or the configured one, and
     * never fails.
     */
    public static CompletionStage<Left> ofAll(WriteBack writeBack, Scope scope, Duration most) {
        long newest = writeBack.pending()
                .stream()
                .filter(scope::has)
                .mapToLong(PendingWrite::sequence)
                .max()
                .orElse(0);
        return through(writeBack, scope, most, newest);
    }

    /** Goes on with a wait that ended before the store had everything. */
    public static CompletionStage<Left> through(WriteBack writeBack, Scope scope, Duration most,
            long through) {
        Flush flush = new Flush(writeBack, scope, through);
        flush.timeIsOver.completeOnTimeout(null,
                Math.min(most.toMillis(), writeBack.patience().toMillis()), TimeUnit.MILLISECONDS);
        // A timer that is no longer needed would hold this object until its time.
        return flush.next().whenComplete((_, _) -> flush.timeIsOver.complete(null));
    }

    /** Looks again after each wait: writes may end in another order than they were acknowledged. */
    private CompletionStage<Left> next() {
        List<PendingWrite> left = left();
        String discarded = writeBack.discards()
                .find(scope::has)
                .map(PendingWrite::key)
                .orElse("");
        if (left.isEmpty() || !discarded.isEmpty() || timeIsOver.isDone()) {
            return CompletableFuture.completedStage(said(left, discarded));
        }
        // A write that is discarded fails, and is found at the next look.
        return CompletableFuture
                .anyOf(timeIsOver, left.getLast().written().toCompletableFuture())
                .handle((_, _) -> next())
                .thenCompose(looked -> looked);
    }

    private List<PendingWrite> left() {
        return writeBack.pending()
                .stream()
                .filter(write -> write.sequence() <= through && scope.has(write))
                .sorted(Comparator.comparingLong(PendingWrite::sequence))
                .toList();
    }

    private Left said(List<PendingWrite> left, String discarded) {
        return new Left(left.size(), left.stream().mapToLong(PendingWrite::sizeBytes).sum(),
                left.stream()
                        .map(PendingWrite::problem)
                        .filter(problem -> !problem.isEmpty())
                        .findFirst()
                        .orElse(""),
                discarded, through);
    }
}
