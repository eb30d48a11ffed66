package io.railhead.gateway.object.writeback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.cache.writeback.LogUnusableException;
import io.railhead.cache.writeback.LogUpload;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.channel.NoBackend;
import io.railhead.gateway.s3.S3Refusal;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Acknowledgements on a disk that fails, and while stores change. */
class WriteBackTest {
    private static final PendingName.Bucket CKPT = new PendingName.Bucket("store", "ckpt");
    private static final PendingName.Bucket OTHER = new PendingName.Bucket("store", "other");

    private static final BucketChange CHANGE = new BucketChange("key", "", false, true);

    private final LogOfTest file = new LogOfTest();
    private final WriteBack writeBack = new WriteBack(file.log, file.cache.writes(),
            new WriteBack.Bounds(Duration.ofMillis(50), 0, 100), InstantSource.system(),
            System::nanoTime, _ -> null);
    private final NoBackend store = new NoBackend();
    private final AtomicInteger sent = new AtomicInteger();

    @AfterEach
    void close() {
        writeBack.close();
        file.close();
    }

    private CompletionStage<BackendResponse> send() {
        sent.incrementAndGet();
        return CompletableFuture.completedStage(
                new BackendResponse(200, Headers.NONE, FixedBody.EMPTY));
    }

    private CompletionStage<?> acknowledge(String bucket) throws Exception {
        try (LogUpload upload = file.upload(new byte[10])) {
            return writeBack.acknowledge(LogOfTest.head(bucket, "key"), "\"etag\"", upload);
        }
    }

    @Test
    void aBucketWhoseCommitFailedTakesNoChangeBeforeARestart() throws Exception {
        writeBack.start(_ -> store);
        LogUpload later = file.upload(new byte[10]);
        file.disk.fail();
        assertThatThrownBy(() -> LogOfTest.await(acknowledge("ckpt")))
                .hasCauseInstanceOf(LogUnusableException.class);
        assertThatThrownBy(() -> LogOfTest.await(
                writeBack.inTurn(CKPT, CHANGE, this::send)))
                .hasCauseInstanceOf(S3Refusal.class);
        assertThat(sent).hasValue(0);
        try (later) {
            assertThatThrownBy(() -> LogOfTest.await(
                    writeBack.acknowledge(LogOfTest.head("other", "key"), "\"etag\"", later)))
                    .hasCauseInstanceOf(LogUnusableException.class);
        }
        LogOfTest.await(writeBack.inTurn(OTHER, CHANGE, this::send));
        assertThat(sent).as("the log had failed before, and took nothing").hasValue(1);
    }

    @Test
    void aRequestThatPassedWithoutAClearAnswerHoldsBackPendingWritesOfItsKeyAlone()
            throws Exception {
        writeBack.start(_ -> store);
        CompletableFuture<BackendResponse> broken = new CompletableFuture<>();
        CompletionStage<BackendResponse> passed = writeBack.inTurn(CKPT, CHANGE,
                () -> broken);
        broken.completeExceptionally(new BackendException(BackendException.Reason.BROKEN,
                "the connection broke", null));
        assertThat(passed.toCompletableFuture()).isCompletedExceptionally();
        LogOfTest.await(writeBack.inTurn(CKPT, CHANGE, this::send));
        assertThat(sent).as("others pass, as at any store").hasValue(1);
        LogOfTest.await(acknowledge("ckpt"));
        assertThat(writeBack.pending().getFirst().problem()).as("not tried").isEmpty();
        try (LogUpload upload = file.upload(new byte[10])) {
            LogOfTest.await(writeBack.acknowledge(LogOfTest.head("other", "key"), "\"etag\"",
                    upload));
        }
        TestGateway.await(() -> writeBack.pending(OTHER::equals).getFirst().problem().length() > 0);
        assertThat(writeBack.pending(CKPT::equals).getFirst().problem()).isEmpty();
    }

    @Test
    void aRequestThatIsOutHoldsBackPendingWritesOfItsKeyAndOneThatCannotBeSentDoesNot()
            throws Exception {
        writeBack.start(_ -> store);
        CompletableFuture<BackendResponse> slow = new CompletableFuture<>();
        CompletionStage<BackendResponse> passed = writeBack.inTurn(CKPT, CHANGE, () -> slow);
        CompletionStage<BackendResponse> unsent = writeBack.inTurn(CKPT, CHANGE, () -> {
            throw new IllegalStateException("of the test");
        });
        assertThat(unsent.toCompletableFuture()).isCompletedExceptionally();
        LogOfTest.await(acknowledge("ckpt"));
        assertThat(writeBack.pending().getFirst().problem()).as("not tried").isEmpty();
        slow.complete(new BackendResponse(204, Headers.NONE, FixedBody.EMPTY));
        LogOfTest.await(passed);
        TestGateway.await(() -> writeBack.pending().getFirst().problem().length() > 0);
    }

    @Test
    void anUnclearDeletionOfSeveralKeysHoldsBackThoseAlone() throws Exception {
        writeBack.start(_ -> store);
        CompletionStage<BackendResponse> passed = writeBack.inTurn(CKPT,
                new BucketChange("", "", false, true, () -> Set.of("another")),
                () -> CompletableFuture.failedStage(
                        new BackendException(BackendException.Reason.BROKEN, "of the test", null)));
        assertThat(passed.toCompletableFuture()).isCompletedExceptionally();
        LogOfTest.await(acknowledge("ckpt"));
        TestGateway.await(() -> writeBack.pending().getFirst().problem().length() > 0);
    }

    @Test
    void nothingIsKeptOfABucketThatNoRuleAcknowledgesAtDisk() throws Exception {
        writeBack.start(_ -> store);
        CompletionStage<BackendResponse> passed = writeBack.inTurn(CKPT,
                new BucketChange("key", "", false, false), () -> CompletableFuture.failedStage(
                        new BackendException(BackendException.Reason.BROKEN, "of the test", null)));
        assertThat(passed.toCompletableFuture()).isCompletedExceptionally();
        LogOfTest.await(acknowledge("ckpt"));
        TestGateway.await(() -> writeBack.pending().getFirst().problem().length() > 0);
    }

    @Test
    void aWriteThatIsStuckKeepsNothingOfRequestsThatGaveUp() throws Exception {
        writeBack.start(_ -> store);
        LogOfTest.await(acknowledge("ckpt"));
        PendingWrite stuck = writeBack.pending().getFirst();
        for (int i = 0; i < 3; i++) {
            CompletionStage<?> waiting = writeBack.settled(stuck);
            assertThatThrownBy(() -> LogOfTest.await(waiting)).hasCauseInstanceOf(S3Refusal.class);
        }
        assertThat(stuck.written().toCompletableFuture().getNumberOfDependents()).isZero();
    }

    @Test
    void anUploadOnItsWayCountsAsOneOfItsStore() {
        writeBack.start(_ -> store);
        assertThat(writeBack.tryArrive(store)).isTrue();
        assertThat(writeBack.stores()).containsExactly("store");
        writeBack.arrived(store);
        assertThat(writeBack.stores()).isEmpty();
    }

    @Test
    void noUploadBeginsWhileStoresChangeNorForAStoreOfBefore() {
        writeBack.start(_ -> store);
        writeBack.changeStores(true);
        assertThat(writeBack.tryArrive(store)).isFalse();
        writeBack.changeStores(false);
        assertThat(writeBack.tryArrive(new NoBackend())).as("another of the name").isFalse();
        assertThat(writeBack.stores()).isEmpty();
        assertThat(writeBack.tryArrive(store)).isTrue();
    }
}
