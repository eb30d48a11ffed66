package io.railhead.gateway.object.writeback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.writeback.LogEntry;
import io.railhead.cache.writeback.LogUnusableException;
import io.railhead.cache.writeback.LogUpload;
import io.railhead.cache.writeback.WriteLog;
import io.railhead.gateway.s3.S3Refusal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Open uploads over a log in memory, and a clock of the test's own. */
class OpenUploadsTest {
    private static final PendingName NAME = PendingName.of("store", "ckpt", "key");

    private final LogOfTest file = new LogOfTest();
    private Instant now = Instant.EPOCH;
    private final OpenUploads uploads = new OpenUploads(file.log, () -> now);
    private final long room = file.log.stats().freeBytes();

    @AfterEach
    void close() {
        file.close();
    }

    private OpenUpload begin() throws Exception {
        return LogOfTest.await(uploads.begin(LogOfTest.head("ckpt", "key"), ""));
    }

    private CompletionStage<?> part(OpenUpload upload, int number, int length) throws Exception {
        LogUpload bytes = file.upload(new byte[length]);
        return upload.add(new LogRecord.Part(upload.id(), number, "\"e" + length + '"', "",
                now.toEpochMilli()), bytes);
    }

    private WriteBack restarted() {
        return new WriteBack(file.log, file.cache.writes(),
                new WriteBack.Bounds(Duration.ofMillis(50), 0, 100), () -> now,
                System::nanoTime, _ -> null);
    }

    @Test
    void anUploadWithoutAPartForADayEndsAndFreesItsRoom() throws Exception {
        OpenUpload upload = begin();
        LogOfTest.await(part(upload, 1, 10_000));
        now = now.plus(OpenUploads.LONGEST_PAUSE);
        uploads.endAbandoned();
        assertThat(uploads.stats().open()).as("a day and no more").isEqualTo(1);
        now = now.plusMillis(1);
        upload.arrives();
        now = now.plus(OpenUploads.LONGEST_PAUSE).plusMillis(1);
        uploads.endAbandoned();
        assertThat(uploads.stats().open()).as("a part on its way").isEqualTo(1);
        LogOfTest.await(part(upload, 2, 10_000));
        upload.arrived();
        now = now.plus(OpenUploads.LONGEST_PAUSE);
        uploads.endAbandoned();
        assertThat(uploads.stats().open()).as("a day since it was stored").isEqualTo(1);
        // Refused, as by a full log: that keeps no upload open.
        upload.arrives();
        upload.arrived();
        now = now.plusMillis(1);
        uploads.endAbandoned();
        LogOfTest.await(file.log.commit(List.of(), List.of()));
        assertThat(uploads.stats()).isEqualTo(new OpenUploads.Stats(0, 0, 1, 0));
        assertThat(file.log.stats().freeBytes()).isEqualTo(room);
        assertThatThrownBy(() -> uploads.require(upload.id(), "trainer", NAME))
                .isInstanceOf(S3Refusal.class);
    }

    /** Nobody could send a part while no gateway ran. */
    @Test
    void theDayBeginsAnewWithAStart() throws Exception {
        OpenUpload upload = begin();
        LogOfTest.await(part(upload, 1, 10_000));
        now = now.plus(OpenUploads.LONGEST_PAUSE).plusMillis(1);
        OpenUploads taken = restarted().uploads();
        taken.endAbandoned();
        assertThat(taken.stats().open()).isEqualTo(1);
        now = now.plus(OpenUploads.LONGEST_PAUSE).plusMillis(1);
        taken.endAbandoned();
        LogOfTest.await(file.log.commit(List.of(), List.of()));
        assertThat(taken.stats().abandoned()).isEqualTo(1);
    }

    @Test
    void aPrincipalHasSoManyOpenUploadsAndNoMore() throws Exception {
        OpenUpload one = begin();
        LogEntry entry = file.log.entries().getFirst();
        for (int i = 1; i < OpenUploads.MOST_OF_ONE; i++) {
            assertThat(uploads.mayBegin("trainer")).isTrue();
            uploads.recover(new OpenUpload(file.log,
                    new LogRecord.Upload(one.head(), "id" + i, 0), entry, List.of()));
        }
        assertThat(uploads.mayBegin("trainer")).isFalse();
        assertThat(uploads.mayBegin("other")).isTrue();
    }

    @Test
    void anEndSeesThePartsBeforeItAndThoseBehindItAreRefused() throws Exception {
        OpenUpload upload = begin();
        LogOfTest.await(part(upload, 1, 10));
        CompletableFuture<String> ending = new CompletableFuture<>();
        List<Integer> seen = new ArrayList<>();
        CompletionStage<?> early = part(upload, 2, 20);
        CompletionStage<String> end = upload.end(parts -> {
            parts.forEach(part -> seen.add(part.number()));
            return ending;
        });
        CompletionStage<?> late = part(upload, 3, 30);
        LogOfTest.await(early);
        assertThat(late.toCompletableFuture()).isNotDone();
        ending.complete("ended");
        assertThat(LogOfTest.await(end)).isEqualTo("ended");
        assertThat(seen).containsExactly(1, 2);
        assertThatThrownBy(() -> LogOfTest.await(late)).hasCauseInstanceOf(S3Refusal.class);
    }

    @Test
    void aFailedEndLeavesTheUploadOpen() throws Exception {
        OpenUpload upload = begin();
        assertThatThrownBy(() -> LogOfTest.await(upload.end(_ -> CompletableFuture
                .failedStage(new LogFull())))).hasCauseInstanceOf(LogFull.class);
        LogOfTest.await(part(upload, 1, 10));
        assertThat(upload.parts()).hasSize(1);
    }

    private static final class LogFull extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @Test
    void aStartRemovesWhatACrashHasLeftOfAReplacementOrAnAbort() throws Exception {
        OpenUpload upload = begin();
        for (int length : List.of(1000, 2000)) {
            commit(upload.id(), 1, length);
        }
        commit("railhead-disk-gone", 1, 3000);
        try (WriteBack next = restarted()) {
            OpenUpload found = next.uploads().require(upload.id(), "trainer", NAME);
            assertThat(found.parts()).extracting(LogPart::sizeBytes).containsExactly(2000L);
            LogOfTest.await(file.log.commit(List.of(), List.of()));
            assertThat(file.log.entries()).hasSize(2);
            assertThat(next.stores()).containsExactly("store");
        }
    }

    private void commit(String upload, int number, int length) throws Exception {
        LogRecord.Part part = new LogRecord.Part(upload, number, "\"e\"", "", 0);
        try (LogUpload bytes = file.upload(new byte[length])) {
            LogOfTest.await(file.log.commit(
                    List.of(new WriteLog.Draft("", bytes, part.encoded())), List.of()));
        }
    }

    @Test
    void anObjectWhosePartsAreOthersRefusesTheStart() throws Exception {
        LogRecord.Write write = new LogRecord.Write(LogOfTest.head("ckpt", "key"),
                Completion.etag(List.of("\"00\"")), 0, "railhead-disk-whole");
        LogOfTest.await(file.log.commit(List.of(new WriteLog.Draft("", null, write.encoded())),
                List.of()));
        assertThatThrownBy(this::restarted).hasMessageContaining("ckpt/key");
    }

    @Test
    void aFullJournalTakesTheCompletionOfAnOpenUpload() throws Exception {
        OpenUpload upload = begin();
        LogOfTest.await(part(upload, 1, 10));
        boolean isFull = false;
        while (!isFull) {
            try {
                LogOfTest.await(file.log.commit(
                        List.of(new WriteLog.Draft("", null, new byte[100])), List.of()));
            } catch (java.util.concurrent.ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(LogUnusableException.class);
                isFull = true;
            }
        }
        LogRecord.Write write = new LogRecord.Write(upload.head(),
                Completion.etag(List.of("\"00\"")), 0, upload.id());
        LogOfTest.await(upload.end(parts -> file.log.commit(
                List.of(new WriteLog.Draft("", null, write.encoded())), upload.entriesBut(parts))));
    }
}
