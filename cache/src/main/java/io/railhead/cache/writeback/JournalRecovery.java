package io.railhead.cache.writeback;

import static io.railhead.os.BlockFile.BLOCK_BYTES;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.railhead.cache.writeback.JournalFormat.Head;
import io.railhead.cache.writeback.JournalFormat.Kind;
import io.railhead.os.BlockFile;
import io.railhead.os.Mapping;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads the journal at a start. A batch that is torn ends it. If whole batches follow, the batch
 * was flushed once, so it is damaged: the log then refuses to open, since writes would be lost
 * silently. One thread; waits for the disk.
 */
final class JournalRecovery {
    private final BlockFile file;
    private final LogLayout layout;
    private final long log;

    JournalRecovery(BlockFile file, LogLayout layout, long log) {
        this.file = file;
        this.layout = layout;
        this.log = log;
    }

    /**
     * The state that the journal describes.
     *
     * @param highestEpoch the highest one of which anything is there; a torn epoch that never began
     *            may be higher than the one that counts
     * @param half the half that holds the epoch that counts
     * @param lastId the highest number that an entry had; -1 for none
     */
    record Found(long highestEpoch, int half, NavigableMap<Long, LogEntry> entries, long lastId) {}

    /**
     * An epoch that has begun.
     *
     * @param batches the number of its batches
     * @param end the place behind them
     */
    private record Epoch(long number, Half half, NavigableMap<Long, LogEntry> entries, long lastId,
            long batches, int end) {}

    /** One half in memory, both copies. */
    private record Half(int index, ByteBuffer first, ByteBuffer second) {

        /** Returns the whole batch at a place, of the later epoch if copies differ; or null. */
        @Nullable
        Batch at(int place, long log) {
            Batch one = Batch.at(first, place, log);
            Batch other = Batch.at(second, place, log);
            // A copy that the disk did not write has what was there in an earlier epoch.
            boolean isOther = one == null
                    || (other != null && other.head.epoch() > one.head.epoch());
            return isOther ? other : one;
        }
    }

    private record Batch(Head head, ByteBuffer bytes) {

        static @Nullable Batch at(ByteBuffer copy, int place, long log) {
            ByteBuffer bytes = copy.slice(place, copy.capacity() - place);
            Head head = JournalFormat.head(bytes);
            return head != null && head.log() == log && JournalFormat.isWhole(bytes, head)
                    ? new Batch(head, bytes)
                    : null;
        }

        int wholeBytes() {
            return (int) LogLayout.wholeBlocks(head.bytes());
        }
    }

    /** Throws {@link LogDamagedException} if what was acknowledged cannot all be there. */
    Found read() {
        Half first = half(0);
        Half second = half(1);
        Epoch one = read(first);
        Epoch other = read(second);
        if (one == null || (other != null && other.number > one.number)) {
            one = other;
        }
        if (one == null) {
            throw new LogDamagedException("both halves of its journal are damaged");
        }
        // The other half may be overwritten in part already, so it is not looked at.
        requireEnd(one);
        // Remains of a torn epoch must never be taken for batches of the next one.
        long highest = Math.max(highestEpoch(first), highestEpoch(second));
        return new Found(highest, one.half.index, one.entries, one.lastId);
    }

    private long highestEpoch(Half half) {
        long highest = -1;
        for (int place = 0; place < layout.halfBytes(); place += BLOCK_BYTES) {
            Batch batch = half.at(place, log);
            highest = batch == null ? highest : Math.max(highest, batch.head.epoch());
        }
        return highest;
    }

    private Half half(int half) {
        try (Mapping memory = Mapping.anonymous(layout.halfBytes())) {
            return new Half(half, copy(memory.segment(), half, 0),
                    copy(memory.segment(), half, 1));
        }
    }

    private ByteBuffer copy(MemorySegment memory, int half, int copy) {
        file.read(memory, layout.halfAt(half, copy));
        return ByteBuffer.wrap(memory.toArray(JAVA_BYTE));
    }

    /** Returns null if the half holds no epoch that has begun. */
    private @Nullable Epoch read(Half half) {
        Batch batch = half.at(0, log);
        if (batch == null || batch.head.number() != 0 || batch.head.kind() == Kind.CHANGES) {
            return null;
        }
        long epoch = batch.head.epoch();
        NavigableMap<Long, LogEntry> entries = new TreeMap<>();
        long lastId = -1;
        boolean begun = false;
        long number = 0;
        int place = 0;
        while (batch != null && batch.head.epoch() == epoch && batch.head.number() == number) {
            LogChange change = JournalFormat.changes(batch.bytes, batch.head);
            for (LogEntry entry : change.added()) {
                entries.put(entry.id(), entry);
                lastId = Math.max(lastId, entry.id());
            }
            for (long removed : change.removed()) {
                entries.remove(removed);
            }
            begun |= batch.head.kind() == Kind.SNAPSHOT_END;
            number++;
            place += batch.wholeBytes();
            batch = place < layout.halfBytes() ? half.at(place, log) : null;
        }
        // A power cut may have torn its beginning. Then the other half was not cleared yet.
        return begun ? new Epoch(epoch, half, entries, lastId, number, place) : null;
    }

    private void requireEnd(Epoch epoch) {
        for (int place = epoch.end; place < layout.halfBytes(); place += BLOCK_BYTES) {
            Batch later = epoch.half.at(place, log);
            if (later != null && later.head.epoch() == epoch.number
                    && later.head.number() > epoch.batches) {
                throw new LogDamagedException(
                        "batch " + epoch.batches + " of its journal is damaged");
            }
        }
    }
}
