package io.railhead.cache.disk;

import io.railhead.cache.disk.Superblock.Identifier;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The list of a full segment's pages, little-endian:
 *
 * <pre>
 *    0 magic            8 format     12 CRC32C of header and entries with 0 here
 *   16 volume          32 sequence   40 epoch   48 count   52 zero   56 stamp
 *   64 tenant (16)     80 zeroes
 *   96 entries of 40 bytes: identity (16), hash of the object's name (8), unit, length, CRC32C, 0
 * </pre>
 *
 * A footer counts only in its own volume, so making that anew drops every segment.
 *
 * @param sequence numbers segments in the order in which they were opened, from 1
 * @param tenant the only one that has pages here
 * @param stamp the number of the last eviction by name that its pages have survived
 */
record SegmentFooter(Identifier volume, long sequence, long epoch, long stamp,
        TenantId tenant, List<Entry> entries) {
    private static final long MAGIC = 0x544e4d4745534852L;
    private static final int SUM_AT = 12;
    static final int HEADER_BYTES = 96;
    private static final int STAMP_AT = 56;
    private static final int TENANT_AT = 64;
    static final int ENTRY_BYTES = 40;

    /** @param unit the page's first unit in the segment */
    record Entry(PageIdentity identity, long objectHash, int unit, int length, int crc) {}

    /** Returns the hashes of the objects that have pages here, each once. */
    Set<Long> objects() {
        return entries.stream().map(Entry::objectHash).collect(Collectors.toSet());
    }

    static int mostEntries(int footerBytes) {
        return (footerBytes - HEADER_BYTES) / ENTRY_BYTES;
    }

    /** Fills the buffer: what follows the last entry is zero. */
    void encodeTo(ByteBuffer footer) {
        ByteBuffer out = footer.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(MAGIC).putInt(Superblock.FORMAT).putInt(0);
        out.putLong(volume.high()).putLong(volume.low()).putLong(sequence).putLong(epoch);
        out.putInt(entries.size()).putInt(0).putLong(stamp);
        out.putLong(tenant.high()).putLong(tenant.low()).putLong(0).putLong(0);
        for (Entry entry : entries) {
            out.putLong(entry.identity().high()).putLong(entry.identity().low());
            out.putLong(entry.objectHash());
            out.putInt(entry.unit()).putInt(entry.length()).putInt(entry.crc()).putInt(0);
        }
        int end = out.position();
        while (out.hasRemaining()) {
            out.put((byte) 0);
        }
        out.putInt(SUM_AT, sum(out, end));
    }

    /**
     * Returns how many bytes a footer has that starts so; 0 if it is none of this volume.
     *
     * @param most the bytes that footers may take
     */
    static int lengthOf(ByteBuffer start, Identifier volume, int most) {
        ByteBuffer in = start.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        boolean ours = in.getLong() == MAGIC && in.getInt() == Superblock.FORMAT;
        in.position(SUM_AT + Integer.BYTES);
        if (!ours || in.getLong() != volume.high() || in.getLong() != volume.low()) {
            return 0;
        }
        int count = in.getInt(48);
        return count < 0 || count > mostEntries(most) ? 0 : HEADER_BYTES + count * ENTRY_BYTES;
    }

    /** Returns the footer; null if it is torn, or places a page outside the segment. */
    static @Nullable SegmentFooter decode(ByteBuffer footer, Identifier volume,
            DiskLayout layout) {
        int length = lengthOf(footer, volume, layout.footerBytes());
        ByteBuffer in = footer.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        if (length == 0 || length > in.capacity() || in.getInt(SUM_AT) != sum(in, length)) {
            return null;
        }
        long sequence = in.getLong(32);
        long epoch = in.getLong(40);
        long stamp = in.getLong(STAMP_AT);
        TenantId tenant = new TenantId(in.getLong(TENANT_AT),
                in.getLong(TENANT_AT + Long.BYTES));
        List<Entry> entries = new ArrayList<>((length - HEADER_BYTES) / ENTRY_BYTES);
        for (int at = HEADER_BYTES; at < length; at += ENTRY_BYTES) {
            Entry entry = new Entry(new PageIdentity(in.getLong(at), in.getLong(at + 8)),
                    in.getLong(at + 16), in.getInt(at + 24), in.getInt(at + 28),
                    in.getInt(at + 32));
            if (!isWithin(entry, layout)) {
                return null;
            }
            entries.add(entry);
        }
        return sequence > 0
                ? new SegmentFooter(volume, sequence, epoch, stamp, tenant, entries)
                : null;
    }

    private static boolean isWithin(Entry entry, DiskLayout layout) {
        return entry.length() > 0 && entry.length() <= layout.pageBytes() && entry.unit() >= 0
                && entry.unit() + DiskLayout.unitsOf(entry.length()) <= layout.dataUnits();
    }

    private static int sum(ByteBuffer footer, int length) {
        CRC32C crc = new CRC32C();
        crc.update(footer.duplicate().position(0).limit(SUM_AT));
        crc.update(new byte[Integer.BYTES]);
        crc.update(footer.duplicate().limit(length).position(SUM_AT + Integer.BYTES));
        return (int) crc.getValue();
    }
}
