package io.railhead.gateway.trust;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * The lists of pages on a disk, read by their description (ADR 21) rather than by the gateway's own
 * code.
 *
 * @param pages that sealed segments list
 * @param identities how many of these differ; without meaning if they are encrypted
 */
record Footers(int pages, int identities) {
    private static final long MAGIC = 0x544e4d4745534852L;
    private static final int FORMAT = 2;
    private static final long SEGMENTS_AT = 1 << 20;
    private static final long SEGMENT_BYTES = 64L << 20;
    private static final int FOOTER_BYTES = 256 << 10;
    private static final int UNIT_BYTES = 4096;
    private static final int SUM_AT = 12;
    private static final int COUNT_AT = 48;
    private static final int HEADER_BYTES = 96;
    private static final int ENTRY_BYTES = 40;

    static Footers read(Path disk) throws IOException {
        int pages = 0;
        Set<Long> identities = new HashSet<>();
        try (FileChannel file = FileChannel.open(disk)) {
            long segments = (file.size() - SEGMENTS_AT - UNIT_BYTES) / SEGMENT_BYTES;
            for (long segment = 1; segment <= segments; segment++) {
                ByteBuffer footer = ByteBuffer.allocate(FOOTER_BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN);
                file.read(footer, SEGMENTS_AT + segment * SEGMENT_BYTES - FOOTER_BYTES);
                int count = count(footer);
                pages += count;
                for (int i = 0; i < count; i++) {
                    identities.add(footer.getLong(HEADER_BYTES + i * ENTRY_BYTES));
                }
            }
        }
        return new Footers(pages, identities.size());
    }

    /** Returns 0 for a footer that is none, or torn. */
    private static int count(ByteBuffer footer) {
        int count = footer.getInt(COUNT_AT);
        long length = HEADER_BYTES + (long) count * ENTRY_BYTES;
        if (footer.getLong(0) != MAGIC || footer.getInt(8) != FORMAT || count < 0
                || length > FOOTER_BYTES) {
            return 0;
        }
        CRC32C crc = new CRC32C();
        crc.update(footer.duplicate().position(0).limit(SUM_AT));
        crc.update(new byte[Integer.BYTES]);
        crc.update(footer.duplicate().limit((int) length).position(SUM_AT + Integer.BYTES));
        return footer.getInt(SUM_AT) == (int) crc.getValue() ? count : 0;
    }
}
