package io.railhead.gateway.cluster;

import io.railhead.cache.memory.LentMemory;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * One page on its way from its owner into the cache's memory, which is lent until {@link #close}.
 * Nobody reads it before its checksum was compared. One thread at a time.
 */
final class LandingPage implements AutoCloseable {
    private final LentMemory lent;
    private final List<MemorySegment> segments;
    private final CRC32C crc = new CRC32C();
    private long at;

    LandingPage(LentMemory ownedMemory) {
        this.lent = ownedMemory;
        this.segments = ownedMemory.segments();
    }

    int length() {
        return lent.length();
    }

    int remaining() {
        return (int) (lent.length() - at);
    }

    /** Copies the remaining bytes, which must fit. */
    void write(ByteBuffer bytes) {
        if (bytes.remaining() > remaining()) {
            throw new IllegalArgumentException(
                    bytes.remaining() + " bytes do not fit the page's " + remaining());
        }
        MemorySegment source = MemorySegment.ofBuffer(bytes);
        long from = 0;
        while (from < source.byteSize()) {
            MemorySegment room = room(source.byteSize() - from);
            MemorySegment.copy(source, from, room, 0, room.byteSize());
            crc.update(room.asByteBuffer());
            from += room.byteSize();
            at += room.byteSize();
        }
        if (remaining() == 0) {
            zeroRest();
        }
    }

    /** Returns the memory of the next bytes up to the next gap. */
    private MemorySegment room(long most) {
        long start = 0;
        for (MemorySegment each : segments) {
            if (at < start + each.byteSize()) {
                return each.asSlice(at - start, Math.min(most, start + each.byteSize() - at));
            }
            start += each.byteSize();
        }
        throw new IllegalStateException("no memory at " + at);
    }

    /** Clears what was there before, behind the page's end in its last slot. */
    private void zeroRest() {
        long end = segments.stream().mapToLong(MemorySegment::byteSize).sum();
        for (long zeroed = at; zeroed < end;) {
            MemorySegment rest = restAt(zeroed);
            rest.fill((byte) 0);
            zeroed += rest.byteSize();
        }
    }

    private MemorySegment restAt(long offset) {
        long start = 0;
        for (MemorySegment each : segments) {
            if (offset < start + each.byteSize()) {
                return each.asSlice(offset - start);
            }
            start += each.byteSize();
        }
        throw new IllegalStateException("no memory at " + offset);
    }

    /** Returns the checksum of what has landed. */
    int crc32c() {
        return (int) crc.getValue();
    }

    @Override
    public void close() {
        lent.close();
    }
}
