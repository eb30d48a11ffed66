package io.railhead.cache.writeback;

import static io.railhead.os.BlockFile.BLOCK_BYTES;

import io.railhead.cache.writeback.JournalFormat.Head;
import io.railhead.cache.writeback.JournalFormat.Kind;
import io.railhead.os.BlockFile;
import io.railhead.os.Mapping;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

/**
 * The journal of changes, in batches. A batch is written at two places, and flushed before the next
 * one is written. So at a power cut only the last batch can be torn, and nobody was told of it.
 *
 * <p> An epoch is a half of the journal: all entries of its beginning, then changes. When it is
 * full, the other half begins the next epoch. The former half is cleared once the new one is safe:
 * a damaged epoch is never mistaken for one that had not begun.
 *
 * <p> One thread. Each call waits for the disk, and throws {@link OsException} if that fails; then
 * the journal must not be used any more.
 */
final class LogJournal implements AutoCloseable {
    private static final int SNAPSHOT_BYTES = 256 << 10;

    private final BlockFile file;
    private final LogLayout layout;
    private final long log;
    private final Mapping memory;
    private final ByteBuffer batch;
    private long epoch;
    private int half;
    private long number;
    private int used;

    /**
     * Begins no epoch yet.
     *
     * @param log the number of this log, so that another one's batches are never taken for its own
     * @param epoch the last one that may be in the file
     * @param half the half that holds it
     */
    LogJournal(BlockFile file, LogLayout layout, long log, long epoch, int half) {
        this.file = file;
        this.layout = layout;
        this.log = log;
        this.epoch = epoch;
        this.half = half;
        this.memory = Mapping.anonymous(layout.halfBytes());
        this.batch = memory.segment().asByteBuffer();
    }

    /** Returns the longest batch of changes, without its head. */
    int mostChangeBytes() {
        return layout.halfBytes() / 8;
    }

    /** Returns the most that all entries together may take in the journal. */
    int mostEntryBytes() {
        return layout.mostEntryBytes();
    }

    /**
     * Makes changes safe: on its return a power cut does not lose them.
     *
     * @param all the entries before these changes
     */
    void append(List<LogChange> changes, Supplier<? extends Collection<LogEntry>> all) {
        int body = changes.stream().mapToInt(LogChange::encodedBytes).sum();
        if (used + LogLayout.wholeBlocks(JournalFormat.HEADER_BYTES + body) > layout.halfBytes()) {
            begin(all.get());
        }
        ByteBuffer into = batch.clear().position(JournalFormat.HEADER_BYTES);
        for (LogChange change : changes) {
            change.added().forEach(entry -> JournalFormat.put(into, entry));
            change.removed().forEach(id -> JournalFormat.remove(into, id));
        }
        write(Kind.CHANGES);
        file.sync();
    }

    /** Begins the next epoch, in the other half. */
    void begin(Collection<LogEntry> all) {
        int former = half;
        half = 1 - half;
        epoch++;
        number = 0;
        used = 0;
        List<List<LogEntry>> parts = parts(all);
        for (int i = 0; i < parts.size(); i++) {
            ByteBuffer into = batch.clear().position(JournalFormat.HEADER_BYTES);
            parts.get(i).forEach(entry -> JournalFormat.put(into, entry));
            write(i == parts.size() - 1 ? Kind.SNAPSHOT_END : Kind.SNAPSHOT);
        }
        file.sync();
        MemorySegment zeros = memory.segment().asSlice(0, BLOCK_BYTES).fill((byte) 0);
        file.write(zeros, layout.halfAt(former, 0));
        file.write(zeros, layout.halfAt(former, 1));
        file.sync();
    }

    private List<List<LogEntry>> parts(Collection<LogEntry> all) {
        List<List<LogEntry>> parts = new ArrayList<>();
        List<LogEntry> part = new ArrayList<>();
        int bytes = 0;
        int most = Math.min(SNAPSHOT_BYTES, layout.halfBytes() / 4);
        for (LogEntry entry : all) {
            if (!part.isEmpty() && bytes + entry.encodedBytes() > most) {
                parts.add(part);
                part = new ArrayList<>();
                bytes = 0;
            }
            part.add(entry);
            bytes += entry.encodedBytes();
        }
        parts.add(part);
        return parts;
    }

    private void write(Kind kind) {
        Head head = new Head(log, epoch, number, kind,
                batch.position() - JournalFormat.HEADER_BYTES);
        JournalFormat.seal(batch, head);
        int whole = (int) LogLayout.wholeBlocks(head.bytes());
        memory.segment().asSlice(head.bytes(), whole - head.bytes()).fill((byte) 0);
        MemorySegment written = memory.segment().asSlice(0, whole);
        file.write(written, layout.halfAt(half, 0) + used);
        file.write(written, layout.halfAt(half, 1) + used);
        number++;
        used += whole;
    }

    @Override
    public void close() {
        memory.close();
    }
}
