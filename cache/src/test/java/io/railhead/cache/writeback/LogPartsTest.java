package io.railhead.cache.writeback;

import static io.railhead.cache.writeback.LogRig.await;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Entries that make one object together. */
final class LogPartsTest {
    private final PowerCutDisk disk = new PowerCutDisk(LogRig.FILE);

    @Test
    void aReplacementHasRoomInAFullJournal() {
        try (WriteLog log = LogRig.open(disk)) {
            WriteLog.Draft draft = new WriteLog.Draft("", null, new byte[500]);
            LogEntry open = await(log.commit(List.of(draft), List.of())).getFirst();
            boolean isFull = false;
            while (!isFull) {
                try {
                    await(log.commit(List.of(draft), List.of()));
                } catch (LogUnusableException _) {
                    isFull = true;
                }
            }
            assertThat(log.stats().failed()).isFalse();
            await(log.commit(List.of(draft), List.of(open)));
            assertThat(log.entries()).doesNotContain(open);
        }
    }

    @Test
    void entriesAreReadOneAfterTheOther() {
        try (WriteLog log = LogRig.open(disk)) {
            int length = LogRig.CHUNK + 100;
            List<LogEntry> parts = List.of(await(LogRig.put(log, "one", length)).getFirst(),
                    await(LogRig.put(log, "none", 0)).getFirst(),
                    await(LogRig.put(log, "two", length)).getFirst());
            ByteBuffer all = ByteBuffer.allocate(2 * length);
            try (LogReader reader = requireNonNull(log.tryRead(parts))) {
                assertThat(reader.lengthBytes()).isEqualTo(all.capacity());
                while (all.hasRemaining()) {
                    all.put(await(reader.read(all.position(), 5000)));
                }
            }
            ByteBuffer wanted = ByteBuffer.allocate(2 * length)
                    .put(LogRig.bytesOf("one", length))
                    .put(LogRig.bytesOf("two", length));
            assertThat(all.flip()).isEqualTo(wanted.flip());
            await(log.commit(List.of(), List.of(parts.getLast())));
            assertThat(log.tryRead(parts)).as("a part is gone").isNull();
        }
    }
}
