package io.railhead.cache.disk;

import io.railhead.cache.disk.DiskIndex.Place;
import io.railhead.cache.disk.SegmentFooter.Entry;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.zip.CRC32C;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * Reads the pages of a volume into memory that its caller lends. Any thread. Whatever happens
 * meanwhile, bytes whose CRC32C differs are never given out.
 */
final class PageReader {
    private final DiskVolume volume;
    private final DiskLayout layout;
    private final CipherPool ciphers;

    /** The result of a read. */
    enum Outcome {
        RIGHT,
        /** The segment was written anew meanwhile. */
        GONE,
        /** The bytes are not those that were written; the page is dropped. */
        CORRUPT
    }

    PageReader(DiskVolume volume, CipherPool ciphers) {
        this.volume = volume;
        this.layout = volume.layout;
        this.ciphers = ciphers;
    }

    /**
     * Reads a page into memory of just its units, compares its sum, and zeroes what follows it.
     * Throws {@link OsException} if the disk fails.
     */
    Outcome read(PageIdentity identity, Place place, List<MemorySegment> into) {
        TenantKeys keys = volume.keys;
        boolean whole = keys == null
                ? readPlain(place, into)
                : tryReadEncrypted(identity, place, into, keys);
        CRC32C crc = new CRC32C();
        long left = place.length();
        for (MemorySegment part : into) {
            long used = Math.min(left, part.byteSize());
            if (whole) {
                crc.update(part.asSlice(0, used).asByteBuffer());
            }
            part.asSlice(used).fill((byte) 0);
            left -= used;
        }
        if (!volume.isGood(place)) {
            return Outcome.GONE;
        }
        if (whole && (int) crc.getValue() == place.crc()) {
            return Outcome.RIGHT;
        }
        if (volume.index.remove(identity, place.unit())) {
            volume.corrupt.increment();
        }
        return Outcome.CORRUPT;
    }

    private long at(Place place) {
        return layout.unitAt(volume.segmentOf(place), unitOf(place));
    }

    private int unitOf(Place place) {
        return (int) (Integer.toUnsignedLong(place.unit()) % layout.unitsPerSegment());
    }

    private boolean readPlain(Place place, List<MemorySegment> into) {
        long at = at(place);
        for (MemorySegment part : into) {
            volume.file.read(part, at);
            at += part.byteSize();
        }
        return true;
    }

    private boolean tryReadEncrypted(PageIdentity identity, Place place, List<MemorySegment> into,
            TenantKeys keys) {
        int segment = volume.segmentOf(place);
        long sequence = volume.sequence(segment);
        @Nullable
        TenantId tenant = volume.shares.owner(segment);
        SecretKey key = tenant == null ? null : keys.find(tenant);
        if (key == null || (int) sequence != place.sequence()) {
            return false;
        }
        PageCipher cipher = ciphers.take();
        try {
            volume.file.read(cipher.encrypted(volume.unitsOf(place.length())), at(place));
            return cipher.tryDecrypt(PageCipher.Context.ofPage(key, volume.epoch(segment),
                    sequence, new Entry(identity, 0, unitOf(place), place.length(), 0)),
                    place.length(), into);
        } finally {
            ciphers.giveBack(cipher);
        }
    }
}
