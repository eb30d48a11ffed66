package io.railhead.cache.disk;

import io.railhead.cache.disk.SegmentFooter.Entry;
import io.railhead.os.Mapping;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that a {@link SegmentWriter} puts into segments, with memory for those that are not a
 * page's own. A page goes to the disk out of its own memory, or encrypted out of the cipher's. Each
 * call waits for the disk, and throws {@link OsException} if that fails. One thread.
 */
final class SegmentBytes implements AutoCloseable {
    private static final int ZEROS_BYTES = 1 << 20;

    private final DiskVolume volume;
    private final DiskLayout layout;
    private final PageCipher cipher;
    private final Mapping memory;
    private final MemorySegment footer;
    private final MemorySegment lastUnit;
    private final MemorySegment zeros;

    SegmentBytes(DiskVolume volume, PageCipher ownedCipher) {
        this.volume = volume;
        this.layout = volume.layout;
        this.cipher = ownedCipher;
        this.memory = memory(ownedCipher,
                (long) layout.footerBytes() + DiskLayout.UNIT_BYTES + ZEROS_BYTES);
        this.footer = memory.segment().asSlice(0, layout.footerBytes());
        this.lastUnit = memory.segment().asSlice(layout.footerBytes(), DiskLayout.UNIT_BYTES);
        this.zeros = memory.segment()
                .asSlice((long) layout.footerBytes() + DiskLayout.UNIT_BYTES,
                        ZEROS_BYTES);
    }

    private static Mapping memory(PageCipher ownedCipher, long bytes) {
        try {
            return Mapping.anonymous(bytes);
        } catch (RuntimeException | Error e) {
            ownedCipher.close();
            throw e;
        }
    }

    void writePage(OpenSegment into, Entry entry, List<MemorySegment> page) {
        long at = layout.unitAt(into.segment, entry.unit());
        SecretKey key = into.key;
        if (key == null) {
            writePlain(at, page);
        } else {
            volume.file.write(cipher.encrypt(PageCipher.Context.ofPage(key,
                    volume.superblock.epoch(), into.sequence, entry), page), at);
        }
    }

    /** Writes whole units out of the page's own memory, and a part of a unit with zeros behind. */
    private void writePlain(long start, List<MemorySegment> page) {
        long at = start;
        for (MemorySegment part : page) {
            long whole = part.byteSize() - part.byteSize() % DiskLayout.UNIT_BYTES;
            if (whole > 0) {
                volume.file.write(part.asSlice(0, whole), at);
                at += whole;
            }
            long rest = part.byteSize() - whole;
            if (rest > 0) {
                // The memory behind a short page has another tenant's former bytes.
                lastUnit.asSlice(rest).fill((byte) 0);
                MemorySegment.copy(part, whole, lastUnit, 0, rest);
                volume.file.write(lastUnit, at);
                at += DiskLayout.UNIT_BYTES;
            }
        }
    }

    /** Zeroes what the segment's tenant has not overwritten; returns how many bytes that were. */
    long zeroUnwritten(OpenSegment full) {
        BitSet unwritten = full.unwritten;
        long zeroed = 0;
        int unit = unwritten.nextSetBit(0);
        while (unit >= 0) {
            int end = Math.min(unwritten.nextClearBit(unit),
                    unit + ZEROS_BYTES / DiskLayout.UNIT_BYTES);
            long bytes = (long) (end - unit) * DiskLayout.UNIT_BYTES;
            volume.file.write(zeros.asSlice(0, bytes), layout.unitAt(full.segment, unit));
            zeroed += bytes;
            unit = unwritten.nextSetBit(end);
        }
        return zeroed;
    }

    void writeFooter(OpenSegment full, OpenSegment.Sealed ended) {
        List<Entry> entries = ended.entries();
        SegmentFooter listed = new SegmentFooter(volume.superblock.volume(), full.sequence,
                volume.superblock.epoch(), ended.stamp(), full.tenant, entries);
        listed.encodeTo(footer.asByteBuffer());
        SecretKey key = full.key;
        if (key != null) {
            listed.encrypt(footer.asByteBuffer(), cipher, key);
        }
        int used = SegmentFooter.HEADER_BYTES + entries.size() * SegmentFooter.ENTRY_BYTES;
        volume.file.write(footer.asSlice(0,
                (long) DiskLayout.unitsOf(used) * DiskLayout.UNIT_BYTES),
                layout.footerAt(full.segment));
    }

    /** Returns null if the segment has no whole footer. */
    @Nullable
    SegmentFooter readFooter(int segment) {
        return volume.readFooter(segment, footer);
    }

    /** Takes a segment's footer away: on its return a power cut does not bring it back. */
    void clearFooter(int segment) {
        volume.file.write(footer.asSlice(0, DiskLayout.UNIT_BYTES).fill((byte) 0),
                layout.footerAt(segment));
        volume.file.sync();
    }

    /** Writes the superblock as it is. */
    void probe() {
        MemorySegment.copy(MemorySegment.ofArray(volume.superblock.encoded()), 0, lastUnit, 0,
                DiskLayout.UNIT_BYTES);
        volume.file.write(lastUnit, layout.secondSuperblockAt());
    }

    @Override
    public void close() {
        cipher.close();
        memory.close();
    }
}
