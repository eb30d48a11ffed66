package io.railhead.cache.writeback;

import static io.railhead.os.BlockFile.BLOCK_BYTES;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.railhead.os.BlockFile;
import io.railhead.os.Mapping;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The first block of the file, written once.
 *
 * <pre>
 * magic 8 | log 8 | file's bytes 8 | half's bytes 4 | chunk's bytes 4 | CRC32C of all before 4
 * </pre>
 *
 * @param log a random number that each batch of the journal repeats
 */
record LogHeader(long log, LogLayout layout) {
    private static final long MAGIC = 0x5241494c57424c31L; // RAILWBL1
    private static final int SUM_AT = 32;
    private static final int ZEROS_BYTES = 4 << 20;
    /** File systems, partition tables and volumes have their marks in so much of either end. */
    private static final int END_BYTES = 1 << 20;

    /** Returns null if the first block is zeros: the file holds no log. */
    static @Nullable LogHeader read(BlockFile file) {
        try (Mapping memory = Mapping.anonymous(BLOCK_BYTES)) {
            file.read(memory.segment(), 0);
            ByteBuffer bytes = ByteBuffer.wrap(memory.segment().toArray(JAVA_BYTE));
            if (bytes.getLong(0) == MAGIC && bytes.getInt(SUM_AT) == sum(bytes)) {
                return new LogHeader(bytes.getLong(8), new LogLayout(bytes.getLong(16),
                        bytes.getInt(24), bytes.getInt(28)));
            }
            if (!isZero(bytes)) {
                throw new LogDamagedException("its first block is no log's, or is damaged");
            }
            return null;
        }
    }

    private static boolean isZero(ByteBuffer bytes) {
        while (bytes.hasRemaining()) {
            if (bytes.get() != 0) {
                return false;
            }
        }
        return true;
    }

    private static int sum(ByteBuffer bytes) {
        CRC32C sum = new CRC32C();
        sum.update(bytes.slice(0, SUM_AT));
        return (int) sum.getValue();
    }

    /**
     * Writes zeros over the whole file, so that later writes change no metadata of the file system,
     * then an empty journal, and the header last. A start that is cut off leaves no header. Throws
     * {@link LogDamagedException} if either end, or the journal, holds anything.
     */
    void create(BlockFile file) {
        requireBlank(file);
        try (Mapping memory = Mapping.anonymous(ZEROS_BYTES)) {
            for (long at = 0; at < layout.fileBytes(); at += ZEROS_BYTES) {
                long bytes = Math.min(ZEROS_BYTES, layout.fileBytes() - at);
                file.write(memory.segment().asSlice(0, bytes), at);
            }
            file.sync();
            try (LogJournal journal = new LogJournal(file, layout, log, 0, 1)) {
                journal.begin(List.of());
            }
            MemorySegment block = memory.segment().asSlice(0, BLOCK_BYTES);
            block.asByteBuffer().put(encoded());
            file.write(block, 0);
            file.sync();
        }
    }

    private void requireBlank(BlockFile file) {
        try (Mapping memory = Mapping.anonymous(END_BYTES)) {
            MemorySegment bytes = memory.segment();
            requireBlank(file, 0, bytes);
            requireBlank(file, layout.fileBytes() - END_BYTES, bytes);
            for (int copy = 0; copy < 2; copy++) {
                // A journal without a header is that of a damaged log.
                requireBlank(file, layout.halfAt(0, copy), bytes.asSlice(0, BLOCK_BYTES));
                requireBlank(file, layout.halfAt(1, copy), bytes.asSlice(0, BLOCK_BYTES));
            }
        }
    }

    private static void requireBlank(BlockFile file, long at, MemorySegment into) {
        file.read(into, at);
        for (long block = 0; block < into.byteSize(); block += BLOCK_BYTES) {
            ByteBuffer bytes = ByteBuffer
                    .wrap(into.asSlice(block, BLOCK_BYTES).toArray(JAVA_BYTE));
            if (!JournalFormat.isFirst(bytes) && !isZero(bytes)) {
                throw new LogDamagedException("it holds no log, and other content at byte "
                        + (at + block));
            }
        }
    }

    private ByteBuffer encoded() {
        ByteBuffer bytes = ByteBuffer.allocate(SUM_AT + Integer.BYTES);
        bytes.putLong(MAGIC).putLong(log).putLong(layout.fileBytes());
        bytes.putInt(layout.halfBytes()).putInt(layout.chunkBytes());
        return bytes.putInt(sum(bytes)).flip();
    }
}
