package io.railhead.gateway.object.writeback;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.gateway.s3.S3Refusal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The order of a bucket's writes, over a clock and timers of the test's own. */
class BucketQueueTest {
    private static final StoreWriter.Outcome WRITTEN = new StoreWriter.Outcome.Written();
    private static final StoreWriter.Outcome LATE = new StoreWriter.Outcome.Failed("", true);
    private static final StoreWriter.Outcome BUSY = new StoreWriter.Outcome.Failed("", false);
    private static final StoreWriter.Outcome REFUSED = new StoreWriter.Outcome.Failed("403",
            false);

    private final LogOfTest file = new LogOfTest();
    private final List<String> sent = new ArrayList<>();
    private final List<CompletableFuture<StoreWriter.Outcome>> tries = new ArrayList<>();
    private final List<Runnable> timers = new ArrayList<>();
    private CompletableFuture<?> forgotten = CompletableFuture.completedFuture(null);
    private int accepted;
    private long nowNanos = -100;
    private final BucketQueue queue = new BucketQueue(new BucketQueue.Steps() {
        @Override
        public CompletionStage<StoreWriter.Outcome> write(PendingWrite next) {
            sent.add(next.key());
            tries.add(new CompletableFuture<>());
            return tries.getLast();
        }

        @Override
        public CompletionStage<?> forget(PendingWrite written) {
            return forgotten;
        }

        @Override
        public void later(Runnable step, Duration pause) {
            timers.add(step);
        }
    }, () -> nowNanos);

    @AfterEach
    void close() {
        file.close();
    }

    private PendingWrite put(String key) throws Exception {
        PendingWrite write = file.put(key, new byte[10]);
        queue.add(write);
        return write;
    }

    private void answer(StoreWriter.Outcome outcome) {
        tries.getLast().complete(outcome);
    }

    private void fire() {
        List<Runnable> due = List.copyOf(timers);
        timers.clear();
        due.forEach(Runnable::run);
    }

    private @Nullable CompletionStage<?> tryDiscard(PendingWrite write) {
        return queue.tryDiscard(write, () -> accepted++);
    }

    private Turn turn(String key, CompletionStage<BackendResponse> answer) {
        return new Turn(key, "", () -> {
            sent.add("turn of " + key);
            return answer;
        });
    }

    private static BackendResponse response(int status) {
        return new BackendResponse(status, Headers.NONE, FixedBody.EMPTY);
    }

    @Test
    void aPendingWriteWaitsOutARequestThatPassedWithoutAClearAnswer() throws Exception {
        assertThat(queue.tryPass("", false)).isTrue();
        queue.passed("", Set.of("a", "c"));
        assertThat(queue.mayPass("a", false)).as("other requests pass").isTrue();
        put("b");
        answer(WRITTEN);
        put("a");
        assertThat(sent).containsExactly("b");
        fire();
        assertThat(sent).as("the time is not over").containsExactly("b");
        nowNanos += BucketQueue.DOUBT.toNanos();
        fire();
        assertThat(sent).containsExactly("b", "a");
    }

    @Test
    void aPendingWriteWaitsForARequestOfItsKeyThatWentAtOnce() throws Exception {
        assertThat(queue.tryPass("a", true)).isTrue();
        assertThat(queue.tryPass("a", false)).as("others pass beside it").isTrue();
        put("b");
        assertThat(sent).containsExactly("b");
        answer(WRITTEN);
        put("a");
        queue.retry();
        queue.passed("a", Set.of());
        assertThat(sent).as("one is still out").containsExactly("b");
        queue.passed("a", Set.of());
        assertThat(sent).containsExactly("b", "a");
    }

    @Test
    void aRequestThatMayPassAStuckWriteHoldsUpItsOwnKeyAlone() throws Exception {
        put("a");
        answer(REFUSED);
        assertThat(queue.tryPass("a", true)).isFalse();
        assertThat(queue.tryPass("b", true)).isTrue();
        queue.retry();
        answer(WRITTEN);
        put("b");
        assertThat(sent).containsExactly("a", "a");
        queue.passed("b", Set.of("b"));
        assertThat(sent).hasSize(2);
        nowNanos += BucketQueue.DOUBT.toNanos();
        fire();
        assertThat(sent).containsExactly("a", "a", "b");
    }

    @Test
    void aRequestOfNoOneKeyHoldsUpAllPendingWritesWhileItIsOut() throws Exception {
        assertThat(queue.tryPass("", false)).isTrue();
        put("a");
        assertThat(sent).isEmpty();
        queue.passed("", Set.of());
        assertThat(sent).containsExactly("a");
    }

    @Test
    void aWriteBehindARequestWaitsForItsAnswer() throws Exception {
        put("a");
        CompletableFuture<BackendResponse> deleted = new CompletableFuture<>();
        queue.add(turn("a", deleted));
        put("a");
        assertThat(sent).containsExactly("a");
        answer(WRITTEN);
        assertThat(sent).containsExactly("a", "turn of a");
        deleted.complete(response(204));
        assertThat(sent).containsExactly("a", "turn of a", "a");
    }

    @Test
    void requestsNextToEachOtherAreSentTogether() throws Exception {
        put("a");
        CompletableFuture<BackendResponse> first = new CompletableFuture<>();
        CompletableFuture<BackendResponse> second = new CompletableFuture<>();
        queue.add(turn("b", first));
        queue.add(turn("c", second));
        put("d");
        answer(WRITTEN);
        assertThat(sent).containsExactly("a", "turn of b", "turn of c");
        first.complete(response(200));
        assertThat(sent).hasSize(3);
        second.complete(response(200));
        assertThat(sent).endsWith("d");
    }

    @Test
    void aRequestThatLeavesIsNeverSentAndHoldsUpNobody() throws Exception {
        put("a");
        Turn left = turn("a", new CompletableFuture<>());
        queue.add(left);
        put("b");
        assertThat(queue.leave(left)).isTrue();
        answer(WRITTEN);
        assertThat(sent).containsExactly("a", "b");
        assertThat(queue.leave(left)).isFalse();
    }

    @Test
    void aTryWithoutAnAnswerHoldsUpTheNextWriteOfItsKeyAlone() throws Exception {
        PendingWrite first = put("a");
        answer(LATE);
        put("b");
        put("a");
        fire();
        answer(WRITTEN);
        assertThat(first.written().toCompletableFuture()).isDone();
        assertThat(sent).as("another key goes on").containsExactly("a", "a", "b");
        answer(WRITTEN);
        assertThat(sent).hasSize(3);
        assertThat(queue.mayPass("a", false)).isFalse();
        nowNanos += BucketQueue.DOUBT.toNanos();
        fire();
        assertThat(sent).containsExactly("a", "a", "b", "a");
        answer(WRITTEN);
        assertThat(queue.mayPass("a", false)).isTrue();
    }

    @Test
    void aRequestOfTheKeyWaitsForATryWithoutAnAnswerToo() throws Exception {
        put("a");
        answer(LATE);
        fire();
        answer(WRITTEN);
        assertThat(queue.mayPass("a", true)).isFalse();
        assertThat(queue.mayPass("", false)).isFalse();
        assertThat(queue.mayPass("b", false)).isTrue();
        queue.add(turn("a", CompletableFuture.completedStage(response(204))));
        assertThat(sent).containsExactly("a", "a");
        nowNanos += BucketQueue.DOUBT.toNanos();
        fire();
        assertThat(sent).endsWith("turn of a");
    }

    @Test
    void aRequestWithoutAnAnswerHoldsUpTheNextWriteOfItsKey() throws Exception {
        put("a");
        Turn lost = turn("b", CompletableFuture.failedStage(
                new BackendException(BackendException.Reason.LATE, "of the test", null)));
        queue.add(lost);
        put("b");
        answer(WRITTEN);
        assertThat(lost.answer().toCompletableFuture()).isCompletedExceptionally();
        assertThat(sent).containsExactly("a", "turn of b");
        nowNanos += BucketQueue.DOUBT.toNanos();
        fire();
        assertThat(sent).endsWith("b");
    }

    @Test
    void newWritesDoNotEndThePause() throws Exception {
        put("a");
        answer(BUSY);
        put("b");
        put("c");
        assertThat(sent).containsExactly("a");
        assertThat(timers).hasSize(1);
        queue.retry();
        assertThat(sent).containsExactly("a", "a");
        fire();
        answer(BUSY);
        assertThat(timers).as("the pause that retry ended begins nothing").hasSize(1);
    }

    @Test
    void aDiscardedWriteIsNeverTriedAgainAndUnblocksThoseBehind() throws Exception {
        PendingWrite first = put("a");
        answer(REFUSED);
        put("b");
        forgotten = new CompletableFuture<>();
        CompletionStage<?> discarded = tryDiscard(first);
        assertThat(discarded).isNotNull();
        assertThat(tryDiscard(first)).as("twice").isNull();
        assertThat(accepted).isEqualTo(1);
        queue.retry();
        fire();
        assertThat(sent).as("nothing of it while the log records that").containsExactly("a");
        assertThat(first.written().toCompletableFuture()).isNotDone();
        forgotten.complete(null);
        assertThat(first.written().toCompletableFuture()).isCompletedExceptionally();
        assertThat(sent).containsExactly("a", "b");
        assertThat(queue.isStuck()).isFalse();
    }

    @Test
    void aWriteThatIsBeingTriedIsNotDiscardedAndOneBehindItIs() throws Exception {
        PendingWrite first = put("a");
        PendingWrite second = put("b");
        put("c");
        assertThat(tryDiscard(first)).isNull();
        assertThat(tryDiscard(second)).isNotNull();
        answer(WRITTEN);
        assertThat(sent).containsExactly("a", "c");
        assertThat(tryDiscard(first)).as("the store has it").isNull();
    }

    @Test
    void aCopyOfADiscardedWriteIsRefusedAndOneOfAnotherKeyIsNot() throws Exception {
        PendingWrite first = put("a");
        answer(REFUSED);
        Turn copy = new Turn("c", "a", () -> CompletableFuture.failedStage(new AssertionError()));
        Turn other = new Turn("d", "b", () -> {
            sent.add("copy of b");
            return new CompletableFuture<>();
        });
        queue.add(copy);
        queue.add(other);
        assertThat(tryDiscard(first)).isNotNull();
        assertThat(copy.answer().toCompletableFuture()).failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(S3Refusal.class);
        assertThat(sent).containsExactly("a", "copy of b");
    }

    @Test
    void aDiscardThatTheLogCannotRecordLeavesTheWrite() throws Exception {
        PendingWrite first = put("a");
        answer(REFUSED);
        forgotten = CompletableFuture.failedFuture(new IllegalStateException("of the test"));
        assertThat(tryDiscard(first)).isNotNull();
        assertThat(first.written().toCompletableFuture()).isNotDone();
        fire();
        assertThat(sent).as("tried after its pause").containsExactly("a", "a");
    }

    @Test
    void aDiscardedWriteThatMayStillHappenHoldsUpTheNextOneOfItsKey() throws Exception {
        PendingWrite first = put("a");
        answer(LATE);
        put("a");
        assertThat(tryDiscard(first)).isNotNull();
        assertThat(sent).containsExactly("a");
        nowNanos += BucketQueue.DOUBT.toNanos();
        fire();
        assertThat(sent).containsExactly("a", "a");
    }

    @Test
    void deletionsOfOtherKeysPassAStuckWrite() throws Exception {
        put("a");
        assertThat(queue.mayPass("b", true)).isFalse();
        answer(REFUSED);
        put("c");
        assertThat(queue.isStuck()).isTrue();
        assertThat(queue.takesWrites()).isFalse();
        assertThat(queue.mayPass("b", true)).isTrue();
        assertThat(queue.mayPass("b", false)).isFalse();
        assertThat(queue.mayPass("a", true)).isFalse();
        assertThat(queue.mayPass("c", true)).isFalse();
        assertThat(queue.mayPass("", true)).isFalse();
    }

    @Test
    void nothingChangesABucketOnceTheLogCannotRecordAWrite() throws Exception {
        PendingWrite first = put("a");
        forgotten = CompletableFuture.failedFuture(new IllegalStateException("of the test"));
        answer(WRITTEN);
        put("b");
        queue.add(turn("c", new CompletableFuture<>()));
        queue.retry();
        fire();
        assertThat(sent).containsExactly("a");
        assertThat(first.problem()).isNotEmpty();
        assertThat(queue.isStuck()).as("the store refuses nothing").isFalse();
        assertThat(queue.takesWrites()).isFalse();
    }

    @Test
    void aSealedBucketTakesNothingThoughNothingIsPending() {
        assertThat(queue.mayPass("a", false)).isTrue();
        queue.seal();
        assertThat(queue.mayPass("a", false)).isFalse();
        assertThat(queue.mayPass("a", true)).isFalse();
        queue.add(turn("a", new CompletableFuture<>()));
        assertThat(sent).isEmpty();
    }
}
