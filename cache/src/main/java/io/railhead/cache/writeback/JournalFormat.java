package io.railhead.cache.writeback;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of the journal's batches, big-endian. A batch counts whole or not at all.
 *
 * <pre>
 * magic 8 | log 8 | epoch 8 | number 8 | kind 4 | body's bytes 4 | CRC32C of all but this 4 | body
 * put:    1 | id 8 | length 8 | description 4 + n | extents 4 + n * 16 | sums 4 + n * 4
 * remove: 2 | id 8
 * </pre>
 */
final class JournalFormat {
    static final int HEADER_BYTES = 44;
    static final int REMOVE_BYTES = 1 + Long.BYTES;
    private static final int SUM_AT = 40;
    private static final long MAGIC = 0x5241494c4c4f4731L; // RAILLOG1
    private static final int LONGEST_BODY = 64 << 20;
    private static final byte PUT = 1;
    private static final byte REMOVE = 2;

    private JournalFormat() {}

    /** The part that a batch plays in its epoch. */
    enum Kind {
        /** Entries that were there before the epoch; more of them follow. */
        SNAPSHOT(0),
        /** The last of them. */
        SNAPSHOT_END(1),
        CHANGES(2);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        static @Nullable Kind of(int code) {
            for (Kind kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            return null;
        }
    }

    /**
     * The head of a batch.
     *
     * @param number counts from 0 in each epoch
     */
    record Head(long log, long epoch, long number, Kind kind, int bodyBytes) {

        int bytes() {
            return HEADER_BYTES + bodyBytes;
        }
    }

    static int putBytes(int description, int extents, int sums) {
        return 1 + 2 * Long.BYTES + 3 * Integer.BYTES + description + extents * 2 * Long.BYTES
                + sums * Integer.BYTES;
    }

    static void put(ByteBuffer into, LogEntry entry) {
        byte[] description = entry.rawDescription();
        StoredBytes bytes = entry.bytes;
        into.put(PUT).putLong(entry.id()).putLong(bytes.length());
        into.putInt(description.length).put(description);
        into.putInt(bytes.extents().size());
        bytes.extents().forEach(extent -> into.putLong(extent.at()).putLong(extent.bytes()));
        into.putInt(bytes.sums().size());
        bytes.sums().forEach(into::putInt);
    }

    static void remove(ByteBuffer into, long id) {
        into.put(REMOVE).putLong(id);
    }

    /** Completes a batch whose body lies behind the room for its head. */
    static void seal(ByteBuffer batch, Head head) {
        batch.putLong(0, MAGIC).putLong(8, head.log).putLong(16, head.epoch);
        batch.putLong(24, head.number).putInt(32, head.kind.code).putInt(36, head.bodyBytes);
        batch.putInt(SUM_AT, sum(batch, head));
    }

    private static int sum(ByteBuffer batch, Head head) {
        CRC32C sum = new CRC32C();
        sum.update(batch.slice(0, SUM_AT));
        sum.update(batch.slice(HEADER_BYTES, head.bodyBytes));
        return (int) sum.getValue();
    }

    /** Returns null if these are not the first bytes of a batch; its sum is not checked yet. */
    static @Nullable Head head(ByteBuffer bytes) {
        Kind kind = Kind.of(bytes.getInt(32));
        int body = bytes.getInt(36);
        return bytes.getLong(0) == MAGIC && kind != null && body >= 0 && body <= LONGEST_BODY
                ? new Head(bytes.getLong(8), bytes.getLong(16), bytes.getLong(24), kind, body)
                : null;
    }

    static boolean isWhole(ByteBuffer batch, Head head) {
        return batch.limit() >= head.bytes() && batch.getInt(SUM_AT) == sum(batch, head);
    }

    /** Returns whether this is what the making of a log writes, which holds no entries. */
    static boolean isFirst(ByteBuffer batch) {
        Head head = head(batch);
        return head != null && head.epoch == 1 && head.number == 0 && head.bodyBytes == 0
                && isWhole(batch, head);
    }

    /** Reads the body of a whole batch. */
    static LogChange changes(ByteBuffer batch, Head head) {
        ByteBuffer body = batch.slice(HEADER_BYTES, head.bodyBytes);
        List<LogEntry> added = new ArrayList<>();
        List<Long> removed = new ArrayList<>();
        try {
            while (body.hasRemaining()) {
                switch (body.get()) {
                    case PUT -> added.add(entry(body));
                    case REMOVE -> removed.add(body.getLong());
                    default -> throw new LogDamagedException("a record of an unknown kind");
                }
            }
        } catch (BufferUnderflowException | NegativeArraySizeException e) {
            throw new LogDamagedException("a record is too short");
        }
        return new LogChange(added, removed);
    }

    private static LogEntry entry(ByteBuffer body) {
        long id = body.getLong();
        long length = body.getLong();
        byte[] description = new byte[body.getInt()];
        body.get(description);
        List<Extent> extents = new ArrayList<>();
        for (int count = body.getInt(); count > 0; count--) {
            extents.add(new Extent(body.getLong(), body.getLong()));
        }
        List<Integer> sums = new ArrayList<>();
        for (int count = body.getInt(); count > 0; count--) {
            sums.add(body.getInt());
        }
        return new LogEntry(id, description, new StoredBytes(length, extents, sums));
    }
}
