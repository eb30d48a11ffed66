package io.railhead.cache.disk;

import io.railhead.os.BlockFile;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/** Reads the footers of a volume's segments. Any thread. */
final class FooterReader {
    /** The first read of a footer: enough for pages of full length. */
    private static final int START_BYTES = 16 << 10;

    private final BlockFile file;
    private final Superblock superblock;
    private final DiskLayout layout;
    private final @Nullable TenantKeys keys;
    private final CipherPool ciphers;

    /** @param keys null if the volume is not encrypted */
    FooterReader(BlockFile file, Superblock superblock, @Nullable TenantKeys keys,
            CipherPool ciphers) {
        this.file = file;
        this.superblock = superblock;
        this.layout = superblock.layout();
        this.keys = keys;
        this.ciphers = ciphers;
    }

    /**
     * Returns a segment's footer; null if there is none, or a torn one. Throws {@link OsException}
     * if the disk fails.
     *
     * @param memory for the longest footer
     */
    @Nullable
    SegmentFooter read(int segment, MemorySegment memory) {
        int first = Math.min(START_BYTES, layout.footerBytes());
        file.read(memory.asSlice(0, first), layout.footerAt(segment));
        ByteBuffer bytes = memory.asByteBuffer();
        int length = SegmentFooter.lengthOf(bytes, superblock.volume(), layout.footerBytes());
        if (length > first) {
            file.read(memory.asSlice(first,
                    (long) DiskLayout.unitsOf(length) * DiskLayout.UNIT_BYTES - first),
                    layout.footerAt(segment) + first);
        }
        return decode(bytes);
    }

    private @Nullable SegmentFooter decode(ByteBuffer bytes) {
        TenantKeys known = keys;
        if (known == null) {
            return SegmentFooter.decode(bytes, superblock.volume(), layout, null);
        }
        PageCipher cipher = ciphers.take();
        try {
            return SegmentFooter.decode(bytes, superblock.volume(), layout,
                    new SegmentFooter.Unlocking() {
                        @Override
                        public @Nullable SecretKey key(TenantId tenant) {
                            return known.find(tenant);
                        }

                        @Override
                        public PageCipher cipher() {
                            return cipher;
                        }
                    });
        } finally {
            ciphers.giveBack(cipher);
        }
    }
}
