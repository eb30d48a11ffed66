package io.railhead.cache.writeback;

import static io.railhead.cache.writeback.LogRig.await;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.disk.DiskRefusedException;
import io.railhead.os.RequiresDirectFiles;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WriteLogTest {
    private final PowerCutDisk disk = new PowerCutDisk(LogRig.FILE);

    @Test
    void whatWasCommittedIsReadAgainAfterAKill() throws Exception {
        try (WriteLog log = LogRig.open(disk)) {
            await(LogRig.put(log, "small", 10));
            await(LogRig.put(log, "of-chunks", 3 * LogRig.CHUNK + 17));
            await(LogRig.put(log, "empty", 0));
            try (WriteLog next = LogRig.open(disk.afterKill())) {
                assertThat(next.entries()).extracting(LogRig::name)
                        .containsExactly("small:10", "of-chunks:24593", "empty:0");
                next.entries().forEach(entry -> LogRig.requireWhole(next, entry));
            }
        }
    }

    @Test
    void theDigestIsThatOfAllBytes() throws Exception {
        byte[] bytes = LogRig.bytesOf("digest", 2 * LogRig.CHUNK + 5);
        try (WriteLog log = LogRig.open(disk); LogUpload upload = LogRig.upload(log, bytes)) {
            assertThat(upload.md5())
                    .isEqualTo(MessageDigest.getInstance("MD5").digest(bytes));
        }
    }

    @Test
    void aRemovedEntryIsGoneAfterARestartAndItsRoomIsFree() {
        try (WriteLog log = LogRig.open(disk)) {
            long before = log.stats().freeBytes();
            LogEntry entry = await(LogRig.put(log, "short-lived", 20_000)).getFirst();
            assertThat(log.stats().freeBytes()).isLessThan(before);
            await(log.commit(List.of(), List.of(entry)));
            assertThat(log.stats().freeBytes()).isEqualTo(before);
            try (WriteLog next = LogRig.open(disk.afterKill())) {
                assertThat(next.entries()).isEmpty();
                assertThat(next.stats().freeBytes()).isEqualTo(before);
            }
        }
    }

    @Test
    void aReaderKeepsTheRoomOfARemovedEntry() {
        try (WriteLog log = LogRig.open(disk)) {
            long before = log.stats().freeBytes();
            LogEntry entry = await(LogRig.put(log, "read", 20_000)).getFirst();
            LogReader reader = requireNonNull(log.tryRead(List.of(entry)));
            await(log.commit(List.of(), List.of(entry)));
            assertThat(log.stats().freeBytes()).isLessThan(before);
            assertThat(log.tryRead(List.of(entry))).as("an entry that is gone").isNull();
            reader.close();
            assertThat(log.stats().freeBytes()).isEqualTo(before);
        }
    }

    @Test
    void aFullLogRefusesAndEvictsNothing() {
        try (WriteLog log = LogRig.open(disk)) {
            int half = (int) log.stats().freeBytes() / 2 / 4096 * 4096;
            await(LogRig.put(log, "first", half));
            assertThat(log.tryBegin(LogOwner.NOBODY, half + 8192)).isNull();
            await(LogRig.put(log, "second", half));
            log.entries().forEach(entry -> LogRig.requireWhole(log, entry));
        }
    }

    @Test
    void anOwnerHoldsNoMoreThanItsShareOfTheBytesAlsoAfterARestart() {
        LogOwner half = new LogOwner("a", 50);
        int most;
        try (WriteLog log = LogRig.open(disk)) {
            most = (int) (log.stats().capacityBytes() / 2) / 4096 * 4096 - 4096;
            assertThat(log.tryBegin(half, most + 8192)).as("alone too much").isNull();
            assertThat(log.isTooLong(half, most + 8192)).isTrue();
            assertThat(log.isTooLong(LogOwner.NOBODY, most + 8192)).isFalse();
            assertThat(log.isTooLong(LogOwner.NOBODY, log.stats().capacityBytes() + 1)).isTrue();
            LogUpload first = requireNonNull(log.tryBegin(half, most));
            assertThat(log.tryBegin(half, 8192)).as("together too much").isNull();
            assertThat(log.isTooMuch(half, 8192)).isTrue();
            assertThat(log.hasTaken(half, 75)).isTrue();
            assertThat(log.isTooLong(half, 8192)).isFalse();
            requireNonNull(log.tryBegin(new LogOwner("b", 50), 8192)).close();
            first.close();
            try (LogUpload again = requireNonNull(log.tryBegin(half, most))) {
                await(again.take(ByteBuffer.allocate(most)));
                await(again.finish());
                await(log.commit(List.of(new WriteLog.Draft("a", again, new byte[5])),
                        List.of()));
            }
            assertThat(log.tryBegin(half, 8192)).isNull();
        }
        try (WriteLog log = LogRig.open(disk)) {
            LogEntry entry = log.entries().getFirst();
            log.own(entry, "a");
            assertThat(log.tryBegin(half, 8192)).as("after a restart").isNull();
            LogReader reader = requireNonNull(log.tryRead(List.of(entry)));
            await(log.commit(List.of(), List.of(entry)));
            assertThat(log.tryBegin(half, 8192)).as("while it is read").isNull();
            reader.close();
            requireNonNull(log.tryBegin(half, most)).close();
        }
    }

    @Test
    void anOwnerOfManySmallWritesLeavesTheRestOfTheJournalToOthers() {
        LogOwner half = new LogOwner("a", 50);
        try (WriteLog log = LogRig.open(disk)) {
            List<LogUpload> uploads = new ArrayList<>();
            assertThat(log.hasTaken(half, 0)).isFalse();
            for (LogUpload next = log.tryBegin(half, 10); next != null; next = log
                    .tryBegin(half, 10)) {
                uploads.add(next);
                assertThat(log.hasTaken(half, 0)).isTrue();
            }
            assertThat(log.isTooMuch(half, 10)).isTrue();
            assertThat(log.hasTaken(half, 75)).as("of the journal").isTrue();
            assertThat(log.hasTaken(new LogOwner("b", 50), 0)).isFalse();
            try (LogUpload other = requireNonNull(log.tryBegin(new LogOwner("b", 50), 10))) {
                assertThat(other.lengthBytes()).isEqualTo(10);
            }
            LogUpload last = uploads.removeLast();
            await(last.take(ByteBuffer.allocate(10)));
            await(last.finish());
            await(log.commit(List.of(new WriteLog.Draft("a", last, new byte[1])), List.of()));
            last.close();
            uploads.add(requireNonNull(log.tryBegin(half, 10), "its record is short"));
            uploads.forEach(LogUpload::close);
            await(log.commit(List.of(), log.entries()));
            assertThat(log.isTooMuch(half, 10)).isFalse();
        }
    }

    @Test
    void theLeastShareOfALogHasRoomForOneRecord() {
        int least = WriteLog.leastPercent(LogRig.LAYOUT);
        try (WriteLog log = LogRig.open(disk)) {
            assertThat(log.tryBegin(new LogOwner("a", least - 1), 0)).isNull();
            requireNonNull(log.tryBegin(new LogOwner("a", least), 0)).close();
        }
        assertThat(WriteLog.leastPercent(WriteLog.leastBytes())).isEqualTo(2);
        assertThat(WriteLog.leastPercent(1L << 40)).isEqualTo(1);
    }

    @Test
    void anUploadThatHasBegunNeverFindsTheJournalFull() {
        try (WriteLog log = LogRig.open(disk)) {
            byte[] description = new byte[log.longestDescription()];
            List<LogUpload> uploads = new ArrayList<>();
            for (LogUpload next = log.tryBegin(LogOwner.NOBODY, 10); next != null; next = log
                    .tryBegin(LogOwner.NOBODY, 10)) {
                uploads.add(next);
            }
            assertThat(log.stats().freeBytes()).as("the journal is full first")
                    .isGreaterThan(4096 * 10);
            uploads.removeLast().close();
            uploads.add(requireNonNull(log.tryBegin(LogOwner.NOBODY, 10)));
            for (LogUpload upload : uploads) {
                await(upload.take(ByteBuffer.allocate(10)));
                await(upload.finish());
                await(log.commit(List.of(new WriteLog.Draft("", upload, description)), List.of()));
                upload.close();
            }
            assertThat(log.tryBegin(LogOwner.NOBODY, 10)).as("the journal is full of entries")
                    .isNull();
            await(log.commit(List.of(), List.of(log.entries().getFirst())));
            requireNonNull(log.tryBegin(LogOwner.NOBODY, 10)).close();
        }
    }

    @Test
    void anUploadThatIsGivenUpFreesItsRoom() {
        try (WriteLog log = LogRig.open(disk)) {
            long before = log.stats().freeBytes();
            LogUpload upload = requireNonNull(log.tryBegin(LogOwner.NOBODY, 50_000));
            await(upload.take(ByteBuffer.allocate(30_000)));
            assertThatThrownBy(() -> await(upload.finish())).hasMessageContaining("30000 of 50000");
            upload.close();
            // The last chunk may still be on its way.
            long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
            while (log.stats().freeBytes() != before && System.nanoTime() < deadline) {
                Thread.onSpinWait();
            }
            await(LogRig.put(log, "fits", (int) before / 4096 * 4096));
        }
    }

    @Test
    void aFailedFlushAcknowledgesNothingAndIsNeverTriedAgain() {
        try (WriteLog log = LogRig.open(disk)) {
            LogEntry safe = await(LogRig.put(log, "safe", 5000)).getFirst();
            disk.goodSyncs = 0;
            CompletionStage<List<LogEntry>> lost = LogRig.put(log, "lost", 5000);
            assertThatThrownBy(() -> await(lost)).isInstanceOf(LogUnusableException.class);
            disk.goodSyncs = Integer.MAX_VALUE;
            assertThat(log.stats().failed()).isTrue();
            assertThat(log.tryBegin(LogOwner.NOBODY, 100)).isNull();
            assertThatThrownBy(() -> await(log.commit(List.of(), List.of(safe))))
                    .isInstanceOf(LogUnusableException.class);
            LogRig.requireWhole(log, safe);
        }
    }

    @Test
    void aFailedWriteOfBytesPoisonsTheLog() {
        try (WriteLog log = LogRig.open(disk)) {
            disk.failingWrites = true;
            assertThatThrownBy(() -> LogRig.upload(log, new byte[5000]))
                    .hasMessageContaining("told to fail");
            disk.failingWrites = false;
            assertThat(log.tryBegin(LogOwner.NOBODY, 100)).isNull();
        }
    }

    @Test
    void anOwnerThatThrowsOnASafeWritePoisonsTheLog() {
        try (WriteLog log = LogRig.open(disk)) {
            WriteLog.Draft draft = new WriteLog.Draft("", null, new byte[5]);
            CompletionStage<List<LogEntry>> unknown = log.commit(List.of(draft), List.of(), _ -> {
                throw new AssertionError("told to fail");
            });
            assertThatThrownBy(() -> await(unknown)).isInstanceOf(LogUnusableException.class)
                    .hasRootCauseMessage("told to fail");
            assertThat(log.stats().failed()).isTrue();
            assertThatThrownBy(() -> await(log.commit(List.of(draft), List.of())))
                    .isInstanceOf(LogUnusableException.class);
        }
    }

    @Test
    void anUploadFreesItsRoomOnceHoweverOftenItIsClosed() {
        try (WriteLog log = LogRig.open(disk)) {
            long before = log.stats().freeBytes();
            LogUpload upload = requireNonNull(log.tryBegin(LogOwner.NOBODY, 50_000));
            upload.close();
            upload.close();
            assertThat(log.stats().freeBytes()).isEqualTo(before);
        }
    }

    @Test
    void aFlippedBitOfTheBytesIsFoundByItsReader() {
        try (WriteLog log = LogRig.open(disk)) {
            LogEntry entry = await(LogRig.put(log, "flipped", 20_000)).getFirst();
            byte[] part = java.util.Arrays.copyOf(LogRig.bytesOf("flipped", 20_000), 64);
            disk.flip(disk.find(part) + 100);
            assertThatThrownBy(() -> LogRig.read(log, entry))
                    .isInstanceOf(LogDamagedException.class);
        }
    }

    @Test
    void damageOfOneCopyOfTheJournalLosesNothing() {
        try (WriteLog log = LogRig.open(disk)) {
            await(LogRig.put(log, "one", 100));
            await(LogRig.put(log, "two", 100));
        }
        int half = usedHalf();
        for (int copy = 0; copy < 2; copy++) {
            for (int at = 0; at < 3 * 4096; at += 10) {
                PowerCutDisk damaged = disk.afterKill();
                damaged.flip(LogRig.LAYOUT.halfAt(half, copy) + at);
                try (WriteLog log = LogRig.open(damaged)) {
                    assertThat(log.entries()).as("byte %s", at).hasSize(2);
                }
            }
        }
    }

    @Test
    void damageOfBothCopiesBeforeLaterBatchesIsRefused() {
        try (WriteLog log = LogRig.open(disk)) {
            await(LogRig.put(log, "one", 100));
            await(LogRig.put(log, "two", 100));
        }
        int half = usedHalf();
        disk.flip(LogRig.LAYOUT.halfAt(half, 0) + 4096 + 60);
        disk.flip(LogRig.LAYOUT.halfAt(half, 1) + 4096 + 60);
        assertThatThrownBy(() -> LogRig.open(disk)).isInstanceOf(LogDamagedException.class)
                .hasMessageContaining("batch 1");
    }

    @Test
    void damageOfTheEpochsBeginningIsRefused() {
        try (WriteLog log = LogRig.open(disk)) {
            await(LogRig.put(log, "one", 100));
        }
        int half = usedHalf();
        disk.flip(LogRig.LAYOUT.halfAt(half, 0) + 60);
        disk.flip(LogRig.LAYOUT.halfAt(half, 1) + 60);
        disk.flip(LogRig.LAYOUT.halfAt(half, 0) + 20);
        disk.flip(LogRig.LAYOUT.halfAt(half, 1) + 20);
        assertThatThrownBy(() -> LogRig.open(disk)).isInstanceOf(LogDamagedException.class);
    }

    private int usedHalf() {
        byte[] magic = {'R', 'A', 'I', 'L', 'L', 'O', 'G', '1'};
        return disk.find(magic) == LogRig.LAYOUT.halfAt(0, 0) ? 0 : 1;
    }

    @Test
    void aJournalThatIsFullManyTimesKeepsWhatIsThere() {
        try (WriteLog log = LogRig.open(disk)) {
            await(LogRig.put(log, "old", 5000));
            for (int i = 0; i < 200; i++) {
                LogEntry entry = await(LogRig.put(log, "n" + i, 100)).getFirst();
                await(log.commit(List.of(), List.of(entry)));
            }
            assertThat(log.entries()).extracting(LogRig::name).containsExactly("old:5000");
            try (WriteLog next = LogRig.open(disk.afterKill())) {
                assertThat(next.entries()).extracting(LogRig::name).containsExactly("old:5000");
                LogRig.requireWhole(next, next.entries().getFirst());
            }
        }
    }

    @Test
    void oneCopyThatTheDiskDidNotWriteLosesNothing() {
        try (WriteLog log = LogRig.open(disk)) {
            for (int i = 0; i < 100; i++) {
                PowerCutDisk former = disk.afterKill();
                LogEntry entry = await(LogRig.put(log, "n" + i, 100)).getFirst();
                for (int copy = 0; copy < 2; copy++) {
                    PowerCutDisk damaged = disk.afterKill();
                    damaged.restore(former, LogRig.LAYOUT.halfAt(0, copy), LogRig.HALF);
                    damaged.restore(former, LogRig.LAYOUT.halfAt(1, copy), LogRig.HALF);
                    try (WriteLog next = LogRig.open(damaged)) {
                        assertThat(next.entries()).as("copy %s, put %s", copy, i)
                                .extracting(LogRig::name)
                                .containsExactly("n" + i + ":100");
                    }
                }
                await(log.commit(List.of(), List.of(entry)));
            }
        }
    }

    @Test
    void oneChangeAddsAndRemovesTogether() {
        try (WriteLog log = LogRig.open(disk)) {
            LogEntry part = await(LogRig.put(log, "part", 100)).getFirst();
            await(log.commit(List.of(new WriteLog.Draft("", null, "complete:0".getBytes(
                    java.nio.charset.StandardCharsets.UTF_8))), List.of(part)));
            assertThat(log.entries()).extracting(LogRig::name).containsExactly("complete:0");
        }
    }

    @Test
    void manyCommitsShareFlushes() {
        try (WriteLog log = LogRig.open(disk)) {
            List<CompletionStage<List<LogEntry>>> all = new ArrayList<>();
            java.util.concurrent.CountDownLatch held = new java.util.concurrent.CountDownLatch(1);
            all.add(LogRig.put(log, "first", 10));
            await(all.getFirst());
            int before = disk.syncs();
            disk.before = () -> {
                if (Thread.currentThread().getName().equals("railhead-write-log")) {
                    try {
                        held.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
            };
            for (int i = 0; i < 20; i++) {
                all.add(LogRig.put(log, "c" + i, 10));
            }
            held.countDown();
            all.forEach(LogRig::await);
            assertThat(disk.syncs() - before).isLessThan(12);
        }
    }

    @Test
    void anotherSizeIsRefused() {
        LogRig.open(disk).close();
        assertThatThrownBy(() -> WriteLog.open(disk, new LogLayout(LogRig.FILE, 32 << 10, 4096)))
                .hasMessageContaining("a log keeps its size");
    }

    @Test
    @RequiresDirectFiles
    void aFileThatIsNoLogIsRefusedAndUntouched(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("somebody's");
        byte[] content = new byte[(int) WriteLog.leastBytes()];
        content[5] = 1;
        Files.write(file, content);
        assertThatThrownBy(() -> WriteLog.open(file.toString(), content.length))
                .isInstanceOf(DiskRefusedException.class)
                .hasMessageContaining("no log's, or is damaged");
        assertThat(Files.readAllBytes(file)).isEqualTo(content);
        assertThatThrownBy(() -> WriteLog.open(file.toString(), content.length + 4096L))
                .isInstanceOf(DiskRefusedException.class)
                .hasMessageContaining("the configuration says");
        assertThat(file).hasSize(content.length);
    }

    @Test
    @RequiresDirectFiles
    void contentBehindTheFirstBlockOrAtTheEndIsRefusedAndUntouched(@TempDir Path folder)
            throws Exception {
        int size = (int) WriteLog.leastBytes();
        for (int at : List.of(0x10040, size - 512)) {
            Path file = folder.resolve("somebody's-at-" + at);
            byte[] content = new byte[size];
            content[at] = 1;
            Files.write(file, content);
            assertThatThrownBy(() -> WriteLog.open(file.toString(), size))
                    .isInstanceOf(DiskRefusedException.class)
                    .hasMessageContaining("other content at byte " + at / 4096 * 4096);
            assertThat(Files.readAllBytes(file)).isEqualTo(content);
        }
    }

    @Test
    void aLogWhoseHeaderIsLostIsNotMadeAnew() {
        try (WriteLog log = LogRig.open(disk)) {
            await(LogRig.put(log, "kept", 100));
        }
        PowerCutDisk damaged = disk.afterKill();
        damaged.clear(0, 4096);
        assertThatThrownBy(() -> LogRig.open(damaged)).isInstanceOf(LogDamagedException.class)
                .hasMessageContaining("other content");
    }

    @Test
    @RequiresDirectFiles
    void aFolderThatIsMissingIsNotMade(@TempDir Path folder) {
        Path file = folder.resolve("not-mounted").resolve("write-back");
        assertThatThrownBy(() -> WriteLog.open(file.toString(), WriteLog.leastBytes()))
                .isInstanceOf(DiskRefusedException.class)
                .hasMessageContaining(file.toString());
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    @RequiresDirectFiles
    void aFileOnDiskKeepsItsEntries(@TempDir Path folder) throws Exception {
        String path = folder.resolve("write-back").toString();
        try (WriteLog log = WriteLog.open(path, WriteLog.leastBytes())) {
            await(LogRig.put(log, "kept", 3_000_000));
            assertThatThrownBy(() -> WriteLog.open(path, WriteLog.leastBytes()))
                    .hasMessageContaining("another process uses it");
        }
        try (WriteLog log = WriteLog.open(path, WriteLog.leastBytes())) {
            LogRig.requireWhole(log, log.entries().getFirst());
        }
    }
}
