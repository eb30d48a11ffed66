package io.railhead.cache.disk;

import io.railhead.cache.disk.SegmentFooter.Entry;
import io.railhead.os.BlockFile;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongFunction;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A full disk of any size that stores nothing but its superblocks: footers are made as they are
 * read, of full pages with random identities, and the first page of the first segment is a known
 * one. All bytes of pages are zeros.
 */
final class SyntheticDisk implements BlockFile {
    private final long bytes;
    private final int pageBytes;
    /** The known page's name under a volume's secret. */
    private final LongFunction<VersionName> nameOf;
    private final Map<Long, byte[]> superblocks = new ConcurrentHashMap<>();
    private final int zerosCrc;
    private volatile @Nullable Superblock superblock;
    private final LongAdder synthesisNanos = new LongAdder();

    SyntheticDisk(long bytes, int pageBytes, LongFunction<VersionName> nameOf) {
        this.bytes = bytes - bytes % BLOCK_BYTES;
        this.pageBytes = pageBytes;
        this.nameOf = nameOf;
        CRC32C crc = new CRC32C();
        crc.update(new byte[pageBytes]);
        this.zerosCrc = (int) crc.getValue();
    }

    /** Returns the time that the making of footers took. */
    long synthesisNanos() {
        return synthesisNanos.sum();
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public void read(MemorySegment into, long at) {
        into.fill((byte) 0);
        byte[] written = superblocks.get(at);
        if (written != null) {
            MemorySegment.copy(MemorySegment.ofArray(written), 0, into, 0, BLOCK_BYTES);
        }
        Superblock known = superblock;
        if (known != null) {
            DiskLayout layout = known.layout();
            long segment = (at - DiskLayout.SEGMENTS_AT) / layout.segmentBytes();
            if (segment >= 0 && segment < layout.segments()
                    && at == layout.footerAt((int) segment)) {
                long begun = System.nanoTime();
                footer(known, (int) segment, into.asByteBuffer());
                synthesisNanos.add(System.nanoTime() - begun);
            }
        }
    }

    private void footer(Superblock known, int segment, ByteBuffer into) {
        int units = DiskLayout.unitsOf(pageBytes);
        int count = known.layout().dataUnits() / units;
        SplittableRandom random = new SplittableRandom(segment);
        List<Entry> entries = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            entries.add(new Entry(new PageIdentity(random.nextLong(), random.nextLong()),
                    random.nextLong(), i * units, pageBytes, zerosCrc));
        }
        if (segment == 0) {
            VersionName.Digest digest = nameOf.apply(pageBytes).digest(known.secret().bytes());
            entries.set(0, new Entry(digest.page(0), digest.objectHash(), 0, pageBytes, zerosCrc));
        }
        new SegmentFooter(known.volume(), 1 + segment, known.epoch(), 0, new TenantId(0, 1),
                entries)
                .encodeTo(into);
    }

    @Override
    public synchronized void write(MemorySegment from, long at) {
        byte[] block = from.asSlice(0, BLOCK_BYTES)
                .toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
        Superblock decoded = Superblock.decode(block);
        if (decoded != null) {
            superblocks.put(at, block);
            superblock = decoded;
        }
    }

    @Override
    public void sync() {}

    @Override
    public void close() {}
}
