package io.railhead.cache.disk;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.railhead.cache.disk.Tombstones.Tombstone;
import io.railhead.os.BlockFile;
import io.railhead.os.Mapping;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The decision whether a file is ours, blank or somebody else's, which is refused. Content of
 * another format, size or page size is dropped with one line, never an error.
 */
final class VolumeOpening {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeOpening.class);
    /** The places of the signatures of file systems, partition tables and volume managers. */
    private static final long BLANK_BYTES = Signatures.BYTES;

    static final String ANOTHER_SIZE = "the size of the disk or of pages was another";

    private final BlockFile file;
    private final String path;
    private final SecureRandom random;

    private final @Nullable WrappingKeys keys;

    VolumeOpening(BlockFile file, String path, SecureRandom random) {
        this(file, path, random, null);
    }

    /** @param keys null for no encryption */
    VolumeOpening(BlockFile file, String path, SecureRandom random,
            @Nullable WrappingKeys keys) {
        this.file = file;
        this.path = path;
        this.random = random;
        this.keys = keys;
    }

    /**
     * A volume that can be used.
     *
     * @param ownedList closed with the volume
     * @param keys null if the volume is not encrypted
     */
    record Opened(Superblock superblock, TombstoneFile ownedList, List<Tombstone> evictions,
            @Nullable TenantKeys keys) {}

    /** Opens the volume, or makes a new one in a blank file or in place of an unusable one. */
    Opened open(DiskLayout layout) throws DiskRefusedException {
        try (Mapping memory = Mapping.anonymous(BLANK_BYTES)) {
            Found found = look(memory, layout);
            Superblock usable = found.usable();
            if (usable == null) {
                return create(memory, layout, found.dropped());
            }
            Opened opened = tryOpen(usable.opened());
            if (opened == null) {
                return create(memory, layout, "the list of evicted objects is damaged");
            }
            try {
                write(memory, opened.superblock());
            } catch (RuntimeException | Error e) {
                opened.ownedList().close();
                throw e;
            }
            return opened;
        } catch (OsException e) {
            throw new DiskRefusedException(path + ": " + e.getMessage(), e);
        }
    }

    private Opened create(Mapping memory, DiskLayout layout, @Nullable String dropped) {
        if (dropped != null) {
            LOG.warn("{}: the pages on this disk are dropped, since {}", path, dropped);
        }
        Superblock created = Superblock.create(layout, random, keys);
        TenantKeys tenantKeys = tenantKeys(created);
        TombstoneFile list = new TombstoneFile(file, created.volume());
        try {
            // Before the superblock, which is never there without them.
            list.create();
            createKeys(memory, tenantKeys);
            write(memory, created);
        } catch (RuntimeException | Error e) {
            list.close();
            throw e;
        }
        return new Opened(created, list, List.of(), tenantKeys);
    }

    private @Nullable TenantKeys tenantKeys(Superblock superblock) {
        return keys == null ? null : new TenantKeys(file, superblock, keys, random);
    }

    /** Overwrites the keys of an earlier volume: whatever they encrypted is erased. */
    private void createKeys(Mapping memory, @Nullable TenantKeys tenantKeys) {
        MemorySegment zeros = memory.segment().asSlice(0, DiskLayout.KEYS_BYTES).fill((byte) 0);
        file.write(zeros, DiskLayout.KEYS_AT);
        if (tenantKeys != null) {
            tenantKeys.create();
        }
    }

    private Opened opened(Superblock superblock, TombstoneFile list, List<Tombstone> evictions) {
        TenantKeys tenantKeys = tenantKeys(superblock);
        Wrapped wrapped = superblock.wrapped();
        if (keys == null || tenantKeys == null || wrapped == null) {
            return new Opened(superblock, list, evictions, null);
        }
        tenantKeys.read();
        if (keys.isCurrent(wrapped, superblock.volume().bytes())) {
            return new Opened(superblock, list, evictions, tenantKeys);
        }
        tenantKeys.wrapAnew();
        return new Opened(superblock.wrapAnew(keys), list, evictions, tenantKeys);
    }

    /** Returns null if the list of evictions is damaged. */
    private @Nullable Opened tryOpen(Superblock superblock) {
        TombstoneFile list = new TombstoneFile(file, superblock.volume());
        try {
            List<Tombstone> evictions = list.read();
            if (evictions != null) {
                return opened(superblock, list, evictions);
            }
        } catch (RuntimeException | Error e) {
            list.close();
            throw e;
        }
        list.close();
        return null;
    }

    /**
     * Throws if the file could not be opened as a volume; changes nothing.
     *
     * @return the reason why its pages would be dropped; "" if they would not
     */
    String check(DiskLayout layout) throws DiskRefusedException {
        try (Mapping memory = Mapping.anonymous(BLANK_BYTES)) {
            String dropped = look(memory, layout).dropped();
            return dropped == null ? "" : dropped;
        } catch (OsException e) {
            throw new DiskRefusedException(path + ": " + e.getMessage(), e);
        }
    }

    /**
     * The content of a file that may be used.
     *
     * @param usable null if there is none of this layout
     * @param dropped the reason why pages of ours are dropped; null if there are none, or usable
     *            ones
     */
    private record Found(@Nullable Superblock usable, @Nullable String dropped) {}

    private Found look(Mapping memory, DiskLayout layout) throws DiskRefusedException {
        byte[] first = block(memory, 0);
        byte[] last = block(memory, layout.secondSuperblockAt());
        Superblock found = newer(first, last);
        boolean ours = Superblock.isOurs(first)
                || (Signatures.isZero(first) && Superblock.isOurs(last));
        if (!ours && !isBlank(memory, layout)) {
            throw foreign(path, foreign(memory));
        }
        if (!ours) {
            return new Found(null, null);
        }
        return found != null && found.layout().equals(layout)
                ? unlocked(found)
                : new Found(null, reason(first, found));
    }

    private Found unlocked(Superblock found) {
        if (keys == null) {
            return found.wrapped() == null
                    ? new Found(found, null)
                    : new Found(null, "they are encrypted, and cache.disk.encrypt is off");
        }
        if (found.wrapped() == null) {
            return new Found(null, "they are not encrypted, and cache.disk.encrypt is tenant");
        }
        Superblock usable = found.tryUnlock(keys);
        return usable == null
                ? new Found(null, "cache.disk.key_file holds another key")
                : new Found(usable, null);
    }

    private static String reason(byte[] first, @Nullable Superblock found) {
        if (found != null) {
            return ANOTHER_SIZE;
        }
        return Superblock.isOurs(first) && Superblock.format(first) != Superblock.FORMAT
                ? "their format is " + Superblock.format(first) + ", not " + Superblock.FORMAT
                : "both superblocks are damaged";
    }

    private static @Nullable Superblock newer(byte[] first, byte[] last) {
        Superblock one = Superblock.decode(first);
        Superblock other = Superblock.decode(last);
        if (one == null || other == null) {
            return one == null ? other : one;
        }
        return other.epoch() > one.epoch() ? other : one;
    }

    private byte[] block(Mapping memory, long at) {
        MemorySegment block = memory.segment().asSlice(0, DiskLayout.UNIT_BYTES);
        file.read(block, at);
        return block.toArray(JAVA_BYTE);
    }

    private boolean isBlank(Mapping memory, DiskLayout layout) {
        file.read(memory.segment(), 0);
        if (!Signatures.isZero(memory.segment().toArray(JAVA_BYTE))) {
            return false;
        }
        file.read(memory.segment(), layout.volumeBytes() - BLANK_BYTES);
        return Signatures.isZero(memory.segment().toArray(JAVA_BYTE));
    }

    static DiskRefusedException foreign(String path, String content) {
        return new DiskRefusedException(path + ": holds " + content
                + ", and no gateway's pages: if nobody needs that, railhead disk format " + path
                + " drops it");
    }

    private String foreign(Mapping memory) {
        file.read(memory.segment(), 0);
        return Signatures.of(memory.segment().toArray(JAVA_BYTE));
    }

    /** Writes one superblock after the other, so that a power cut leaves one of them. */
    private void write(Mapping memory, Superblock superblock) {
        MemorySegment block = memory.segment().asSlice(0, DiskLayout.UNIT_BYTES);
        MemorySegment.copy(MemorySegment.ofArray(superblock.encoded()), 0, block, 0,
                DiskLayout.UNIT_BYTES);
        file.write(block, 0);
        file.sync();
        file.write(block, superblock.layout().secondSuperblockAt());
        file.sync();
    }
}
