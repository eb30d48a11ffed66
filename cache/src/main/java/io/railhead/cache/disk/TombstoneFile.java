package io.railhead.cache.disk;

import io.railhead.cache.disk.Superblock.Identifier;
import io.railhead.cache.disk.Tombstones.Name;
import io.railhead.cache.disk.Tombstones.Tombstone;
import io.railhead.os.BlockFile;
import io.railhead.os.Mapping;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The evictions by name on disk: two halves, of which one is in use. Each half is a list of blocks,
 * little-endian:
 *
 * <pre>
 *    0 magic            8 format       12 CRC32C of the block with 0 here
 *   16 volume          32 generation   40 index    44 blocks of the base   48 count
 *   64 evictions of 32 bytes: kind, 0, hash (16), number
 * </pre>
 *
 * A block is written once, so a torn write harms no earlier one. Once it is synced, an empty block
 * is written behind it, which the next block replaces. So a block that cannot be read was never
 * synced if none follows it: nobody was told that its evictions are on record, and it is dropped
 * alone. If one follows, it is damage, as is a base that cannot be read: nobody knows then which
 * pages were evicted.
 *
 * <p> A full half is copied to the other one, as a base of several blocks, without what is not
 * needed any more. Then the old half's first block is zeroed. Each copy has a generation that no
 * block on disk has, so blocks of a copy that failed never join a later list. One thread.
 */
final class TombstoneFile implements AutoCloseable {
    private static final long MAGIC = 0x45564f4d4e574f44L;
    private static final int SUM_AT = 12;
    private static final int HEADER_BYTES = 64;
    private static final int RECORD_BYTES = 32;
    private static final int BLOCK_BYTES = DiskLayout.UNIT_BYTES;
    private static final int HALF_BLOCKS = DiskLayout.TOMBSTONE_BYTES / 2 / BLOCK_BYTES;
    static final int RECORDS_PER_BLOCK = (BLOCK_BYTES - HEADER_BYTES) / RECORD_BYTES;
    /** Blocks for a base: the others are for what is added to it. */
    private static final int MOST_BASE_BLOCKS = 2 * HALF_BLOCKS / 3;
    /** More evictions are widened first. */
    static final int MOST_RECORDS = MOST_BASE_BLOCKS * RECORDS_PER_BLOCK;

    private final BlockFile file;
    private final Identifier volume;
    private final Mapping memory = Mapping.anonymous((long) HALF_BLOCKS * BLOCK_BYTES);
    private int half;
    private long generation;
    /** The highest generation of any block that may be on disk. */
    private long highestGeneration;
    private int next;
    private int base;

    TombstoneFile(BlockFile file, Identifier volume) {
        this.file = file;
        this.volume = volume;
    }

    /** Makes an empty list in place of whatever is there. */
    void create() {
        memory.segment().fill((byte) 0);
        file.write(memory.segment(), at(1, 0));
        half = 1;
        generation = 0;
        highestGeneration = 0;
        replace(List.of());
    }

    /** Reads the list; null if it is damaged. Throws {@link OsException} if the disk fails. */
    @Nullable
    List<Tombstone> read() {
        Half zero = look(0);
        Half one = look(1);
        int younger = one.generation > zero.generation ? 1 : 0;
        Half found = younger == 1 ? one : zero;
        if (found.generation == 0 || found.damaged) {
            return null;
        }
        half = younger;
        generation = found.generation;
        base = found.base;
        next = found.blocks;
        // Whatever a power cut has left there: what was read is in force from now on.
        markEnd();
        Half other = younger == 1 ? zero : one;
        if (other.generation > 0) {
            // A crash came before this.
            zeroFirstBlock(1 - half);
        }
        return found.evictions;
    }

    /**
     * The content of a half.
     *
     * @param generation 0 if it has no whole base
     * @param blocks those that stay: the next one is written behind them
     * @param damaged whether a block that was synced cannot be read
     */
    private record Half(long generation, int base, int blocks, boolean damaged,
            List<Tombstone> evictions) {
        static final Half NONE = new Half(0, 0, 0, false, List.of());
    }

    /** A block that was read. */
    private record Block(long generation, int index, int base, List<Tombstone> evictions) {}

    private Half look(int which) {
        file.read(memory.segment(), at(which, 0));
        noteGenerations();
        List<Tombstone> evictions = new ArrayList<>();
        Block first = decode(0);
        if (first == null || first.index() != 0) {
            return Half.NONE;
        }
        int blocks = 0;
        Block each = first;
        boolean endMarked = false;
        while (each != null) {
            evictions.addAll(each.evictions());
            endMarked = blocks >= first.base() && each.evictions().isEmpty();
            blocks++;
            each = decode(first, blocks);
        }
        if (blocks < first.base()) {
            return Half.NONE;
        }
        boolean followed = IntStream.range(blocks + 1, HALF_BLOCKS)
                .anyMatch(later -> decode(first, later) != null);
        return new Half(first.generation(), first.base(), endMarked ? blocks - 1 : blocks,
                followed, evictions);
    }

    private void noteGenerations() {
        for (int place = 0; place < HALF_BLOCKS; place++) {
            Block found = decode(place);
            if (found != null) {
                highestGeneration = Math.max(highestGeneration, found.generation());
            }
        }
    }

    /** Returns the block at this place if it is of the list that starts so; else null. */
    private @Nullable Block decode(Block first, int place) {
        Block found = place < HALF_BLOCKS ? decode(place) : null;
        return found != null && found.generation() == first.generation()
                && found.index() == place ? found : null;
    }

    private static long at(int half, int block) {
        return DiskLayout.TOMBSTONES_AT + ((long) half * HALF_BLOCKS + block) * BLOCK_BYTES;
    }

    private MemorySegment block(int index) {
        return memory.segment().asSlice((long) index * BLOCK_BYTES, BLOCK_BYTES);
    }

    /** Returns the block at this place of the memory; null if it is none. */
    private @Nullable Block decode(int place) {
        ByteBuffer in = block(place).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        if (in.getLong(0) != MAGIC || in.getInt(8) != Superblock.FORMAT
                || in.getInt(SUM_AT) != sum(in)) {
            return null;
        }
        if (in.getLong(16) != volume.high() || in.getLong(24) != volume.low()) {
            // The list of a volume that was dropped.
            return new Block(0, 0, 1, List.of());
        }
        int count = in.getInt(48);
        if (count < 0 || count > RECORDS_PER_BLOCK) {
            return null;
        }
        List<Tombstone> evictions = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int at = HEADER_BYTES + i * RECORD_BYTES;
            evictions.add(new Tombstone(
                    new Name(in.getInt(at), in.getLong(at + 8), in.getLong(at + 16)),
                    in.getLong(at + 24)));
        }
        return new Block(in.getLong(32), in.getInt(40), in.getInt(44), evictions);
    }

    /** Returns whether so many more evictions fit behind the others, and the end behind them. */
    boolean hasRoom(int count) {
        return next + Math.ceilDiv(count, RECORDS_PER_BLOCK) < HALF_BLOCKS;
    }

    /** Adds evictions, one at least: on its return they would survive a power cut. */
    void append(List<Tombstone> evictions) {
        for (int done = 0; done < evictions.size(); done += RECORDS_PER_BLOCK) {
            appendBlock(evictions.subList(done,
                    Math.min(evictions.size(), done + RECORDS_PER_BLOCK)));
        }
        markEnd();
    }

    /** Adds a block, and syncs it: only the last block of the list may be torn. */
    private void appendBlock(List<Tombstone> evictions) {
        int _ = encode(evictions, next);
        file.write(block(0), at(half, next));
        // Never written again, even if the next step fails: it may have arrived.
        next++;
        file.sync();
    }

    /** Writes an empty block, which says that those before it were synced. It need not last. */
    private void markEnd() {
        if (next < HALF_BLOCKS) {
            int _ = encode(List.of(), next);
            file.write(block(0), at(half, next));
        }
    }

    /** Replaces all evictions by these. */
    void replace(List<Tombstone> evictions) {
        int other = 1 - half;
        long generationBefore = generation;
        int baseBefore = base;
        highestGeneration++;
        generation = highestGeneration;
        base = Math.max(1, Math.ceilDiv(evictions.size(), RECORDS_PER_BLOCK));
        int blocks;
        try {
            blocks = encode(evictions, 0);
            zeroFirstBlock(other);
            file.write(memory.segment().asSlice(0, (long) blocks * BLOCK_BYTES), at(other, 0));
            file.sync();
        } catch (RuntimeException | Error e) {
            // A half that was written in part holds true evictions only.
            base = baseBefore;
            generation = generationBefore;
            throw e;
        }
        int old = half;
        half = other;
        next = blocks;
        markEnd();
        zeroFirstBlock(old);
    }

    /** Encodes blocks at the start of the memory; returns their number, one at least. */
    private int encode(List<Tombstone> evictions, int index) {
        int blocks = Math.max(1, Math.ceilDiv(evictions.size(), RECORDS_PER_BLOCK));
        for (int i = 0; i < blocks; i++) {
            List<Tombstone> part = evictions.subList(i * RECORDS_PER_BLOCK,
                    Math.min(evictions.size(), (i + 1) * RECORDS_PER_BLOCK));
            ByteBuffer out = block(i).fill((byte) 0)
                    .asByteBuffer()
                    .order(ByteOrder.LITTLE_ENDIAN);
            out.putLong(MAGIC).putInt(Superblock.FORMAT).putInt(0);
            out.putLong(volume.high()).putLong(volume.low()).putLong(generation);
            out.putInt(index + i).putInt(base).putInt(part.size());
            out.position(HEADER_BYTES);
            for (Tombstone each : part) {
                out.putInt(each.name().kind()).putInt(0);
                out.putLong(each.name().high()).putLong(each.name().low());
                out.putLong(each.number());
            }
            out.putInt(SUM_AT, sum(out));
        }
        return blocks;
    }

    private void zeroFirstBlock(int which) {
        file.write(block(HALF_BLOCKS - 1).fill((byte) 0), at(which, 0));
        file.sync();
    }

    private static int sum(ByteBuffer block) {
        CRC32C crc = new CRC32C();
        crc.update(block.duplicate().position(0).limit(SUM_AT));
        crc.update(new byte[Integer.BYTES]);
        crc.update(block.duplicate().limit(BLOCK_BYTES).position(SUM_AT + Integer.BYTES));
        return (int) crc.getValue();
    }

    @Override
    public void close() {
        memory.close();
    }
}
