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
    private volatile boolean isLeft;

    /**
     * The objects that are waited for: those of one principal in a bucket.
     *
     * @param prefix begins their keys, decoded; "" for all
     */
    public record Scope(String principal, String bucket, String prefix) {

        private boolean isIn(PendingName.Bucket other) {
            return other.name().equals(bucket);
        }

        private boolean has(PendingWrite write) {
            return write.isOf(principal) && has(write.name().identity());
        }

        private boolean has(DiscardedWrites.Discarded discarded) {
            return discarded.principal().equals(principal) && has(discarded.name());
        }

        private boolean has(PendingName.Identity name) {
            return isIn(name.bucket()) && name.key().startsWith(prefix);
        }
    }

    /**
     * The objects that the store does not have yet.
     *
     * @param objects their number; 0 once the store has all
     * @param problem the reason why the store refuses one of them; "" for none
     * @param discarded the key of one that an administrator has discarded, which the store never
     *            gets; "" for none
     * @param through the log and the last write that was waited for; another wait goes on with it
     */
    public record Left(int objects, long bytes, String problem, String discarded, String through) {}

    private Flush(WriteBack writeBack, Scope scope, long through) {
        this.writeBack = writeBack;
        this.scope = scope;
        this.through = through;
    }

    /**
     * A wait for all that is pending now. It ends after this time, the configured one, or
     * {@link #leave}.
     */
    public static Flush ofAll(WriteBack writeBack, Scope scope, Duration most) {
        long newest = writeBack.pending(scope::isIn)
                .stream()
                .filter(scope::has)
                .mapToLong(PendingWrite::sequence)
                .max()
                .orElse(0);
        return new Flush(writeBack, scope, newest).endingAfter(most);
    }

    /**
     * Goes on with a wait that ended before the store had everything.
     *
     * @param through what {@link Left#through} said
     * @return null if that was over another log, which knows nothing of it
     */
    public static @Nullable Flush tryThrough(WriteBack writeBack, Scope scope, Duration most,
            String through) {
        String log = writeBack.log().name() + "-";
        return through.startsWith(log)
                ? new Flush(writeBack, scope, Long.parseLong(through.substring(log.length())))
                        .endingAfter(most)
                : null;
    }

    private Flush endingAfter(Duration most) {
        timeIsOver.completeOnTimeout(null,
                Math.min(most.toMillis(), writeBack.patience().toMillis()), TimeUnit.MILLISECONDS);
        return this;
    }

    /** Has the stage complete, once. It never fails. */
    public CompletionStage<Left> left() {
        // A timer that is no longer needed would hold this object until its time.
        return next().whenComplete((_, _) -> timeIsOver.complete(null));
    }

    /** Ends the wait, since nobody is there to be told. */
    public void leave() {
        isLeft = true;
        timeIsOver.complete(null);
    }

    /** Looks again after each wait: writes may end in another order than they were acknowledged. */
    private CompletionStage<Left> next() {
        if (isLeft) {
            return CompletableFuture.completedStage(said(List.of(), ""));
        }
        List<PendingWrite> left = waitedFor();
        DiscardedWrites.Discarded discarded = writeBack.discards().find(scope::has);
        if (left.isEmpty() || discarded != null || timeIsOver.isDone()) {
            return CompletableFuture
                    .completedStage(said(left, discarded == null ? "" : discarded.name().key()));
        }
        // A write that is discarded fails, and is found at the next look. On a thread of the JDK:
        // the log's thread, which ends writes, has everybody's commits to do.
        return CompletableFuture
                .anyOf(timeIsOver, left.getLast().written().toCompletableFuture())
                .handleAsync((_, _) -> next())
                .thenCompose(looked -> looked);
    }

    private List<PendingWrite> waitedFor() {
        return writeBack.pending(scope::isIn)
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
                discarded, writeBack.log().name() + "-" + through);
    }
}
