package io.railhead.cache.writeback;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.CRC32C;

/**
 * One reader of entries whose bytes follow each other. Their room stays taken until the reader is
 * closed. Any thread; nothing blocks.
 */
public final class LogReader implements AutoCloseable {
    private final WriteLog log;
    private final ChunkWorkers workers;
    private final List<LogEntry> entries;
    private final AtomicBoolean closed = new AtomicBoolean();

    LogReader(WriteLog log, ChunkWorkers workers, List<LogEntry> retainedEntries) {
        this.log = log;
        this.workers = workers;
        this.entries = List.copyOf(retainedEntries);
    }

    static int sum(ByteBuffer bytes) {
        CRC32C sum = new CRC32C();
        sum.update(bytes.duplicate());
        return (int) sum.getValue();
    }

    public long lengthBytes() {
        return entries.stream().mapToLong(LogEntry::lengthBytes).sum();
    }

    /**
     * Reads bytes from a place to the end of its chunk, or less if less is wanted. The stage fails
     * with {@link LogDamagedException} if they are not those that were written. The buffer belongs
     * to the caller.
     *
     * @param most the most bytes to return, more than 0
     */
    public CompletionStage<ByteBuffer> read(long from, long most) {
        long left = from;
        for (LogEntry entry : entries) {
            if (left < entry.lengthBytes()) {
                long start = left;
                return workers.runWithMemory(memory -> read(entry, memory, start, most));
            }
            left -= entry.lengthBytes();
        }
        throw new IllegalArgumentException("beyond the bytes: " + from);
    }

    private ByteBuffer read(LogEntry entry, MemorySegment memory, long from, long most) {
        int chunkBytes = workers.chunkBytes();
        int number = (int) (from / chunkBytes);
        long start = (long) number * chunkBytes;
        int length = (int) Math.min(chunkBytes, entry.lengthBytes() - start);
        entry.bytes.forEachPiece(start, LogLayout.wholeBlocks(length),
                (at, piece, count) -> workers.file().read(memory.asSlice(piece, count), at));
        ByteBuffer chunk = memory.asSlice(0, length).asByteBuffer();
        if (sum(chunk) != entry.bytes.sums().get(number)) {
            throw new LogDamagedException("chunk " + number + " of write " + entry.id()
                    + " is damaged");
        }
        int skipped = (int) (from - start);
        int count = (int) Math.min(most, length - skipped);
        ByteBuffer copy = ByteBuffer.allocate(count);
        return copy.put(chunk.slice(skipped, count)).flip();
    }

    /** Ends the reading, after its last stage has completed. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            entries.forEach(log::release);
        }
    }
}
