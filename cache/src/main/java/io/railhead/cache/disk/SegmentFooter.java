package io.railhead.cache.disk;

import io.railhead.cache.disk.Superblock.Identifier;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * The list of a full segment's pages, little-endian:
 *
 * <pre>
 *    0 magic            8 format     12 CRC32C of header and entries with 0 here
 *   16 volume          32 sequence   40 epoch   48 count   52 zero   56 stamp
 *   64 tenant (16)     80 tag of the entries, if they are encrypted, else zeroes
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
    private static final int SEQUENCE_AT = 32;
    private static final int EPOCH_AT = 40;
    static final int HEADER_BYTES = 96;
    private static final int STAMP_AT = 56;
    private static final int TENANT_AT = 64;
    private static final int TAG_AT = 80;
    static final int ENTRY_BYTES = 40;

    /** @param unit the page's first unit in the segment */
    record Entry(PageIdentity identity, long objectHash, int unit, int length, int crc) {}

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

    /** Encrypts the entries of an encoded footer. */
    void encrypt(ByteBuffer footer, PageCipher cipher, SecretKey key) {
        ByteBuffer out = footer.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        byte[] plain = new byte[entries.size() * ENTRY_BYTES];
        out.get(HEADER_BYTES, plain);
        byte[] encrypted = cipher.encrypt(context(out, key), plain);
        out.put(HEADER_BYTES, encrypted, 0, plain.length);
        out.put(TAG_AT, encrypted, plain.length, PageCipher.TAG_BYTES);
        out.putInt(SUM_AT, sum(out, HEADER_BYTES + plain.length));
    }

    /** Returns what the entries are bound to: the header behind its sum, up to the tag. */
    private static PageCipher.Context context(ByteBuffer footer, SecretKey key) {
        byte[] bound = new byte[TAG_AT - SUM_AT - Integer.BYTES];
        footer.get(SUM_AT + Integer.BYTES, bound);
        return new PageCipher.Context(key, new PageCipher.Nonce(footer.getLong(EPOCH_AT),
                footer.getLong(SEQUENCE_AT), PageCipher.FOOTER), bound);
    }

    /** The way to decrypt a footer. */
    interface Unlocking {
        @Nullable
        SecretKey key(TenantId tenant);

        PageCipher cipher();
    }

    /** Decrypts the entries of a footer whose sum is right; false if they cannot be had. */
    private static boolean tryDecrypt(ByteBuffer footer, int length, Unlocking unlocking) {
        SecretKey key = unlocking.key(tenant(footer));
        if (key == null) {
            return false;
        }
        int plain = length - HEADER_BYTES;
        byte[] encrypted = new byte[plain + PageCipher.TAG_BYTES];
        footer.get(HEADER_BYTES, encrypted, 0, plain);
        footer.get(TAG_AT, encrypted, plain, PageCipher.TAG_BYTES);
        byte[] entries = new byte[plain];
        boolean right = unlocking.cipher().tryDecrypt(context(footer, key), encrypted, entries);
        footer.put(HEADER_BYTES, entries);
        return right;
    }

    private static TenantId tenant(ByteBuffer footer) {
        return new TenantId(footer.getLong(TENANT_AT), footer.getLong(TENANT_AT + Long.BYTES));
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

    /**
     * Returns the footer; null if it is torn, places a page outside the segment, or cannot be
     * decrypted.
     *
     * @param unlocking null if the volume is not encrypted
     */
    static @Nullable SegmentFooter decode(ByteBuffer footer, Identifier volume,
            DiskLayout layout, @Nullable Unlocking unlocking) {
        int length = lengthOf(footer, volume, layout.footerBytes());
        ByteBuffer in = footer.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        if (length == 0 || length > in.capacity() || in.getInt(SUM_AT) != sum(in, length)) {
            return null;
        }
        if (unlocking != null && !tryDecrypt(in, length, unlocking)) {
            return null;
        }
        long sequence = in.getLong(SEQUENCE_AT);
        long epoch = in.getLong(EPOCH_AT);
        long stamp = in.getLong(STAMP_AT);
        TenantId tenant = tenant(in);
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
