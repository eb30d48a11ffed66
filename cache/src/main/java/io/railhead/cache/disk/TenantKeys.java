package io.railhead.cache.disk;

import io.railhead.os.BlockFile;
import io.railhead.os.Mapping;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Predicate;
import java.util.zip.CRC32C;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * A volume's key for each tenant, wrapped on disk by a key from outside. Two copies, little-endian:
 *
 * <pre>
 *    0 magic            8 format       12 CRC32C of the table with 0 here
 *   16 volume          32 generation   40 count
 *   64 keys of 80 bytes: tenant (16), wrapped key (60), 0
 * </pre>
 *
 * Any thread finds keys. One thread makes and erases them. A key is on disk before a page is
 * encrypted by it. An erased key is overwritten in both copies: nobody can read the tenant's pages
 * then, whatever of them is left.
 */
final class TenantKeys {
    private static final long MAGIC = 0x59454b544e4e4554L;
    private static final int SUM_AT = 12;
    private static final int HEADER_BYTES = 64;
    private static final int KEY_RECORD_BYTES = 80;
    private static final int KEY_BYTES = 32;
    private static final int COPIES = 2;
    private static final int COPY_BYTES = DiskLayout.KEYS_BYTES / COPIES;
    static final int MOST = (COPY_BYTES - HEADER_BYTES) / KEY_RECORD_BYTES;

    private final BlockFile file;
    private final Superblock superblock;
    private final WrappingKeys wrapping;
    private final SecureRandom random;
    private final ConcurrentMap<TenantId, TenantKey> keys = new ConcurrentHashMap<>();
    private long generation;

    private record TenantKey(SecretKey key, Wrapped wrapped) {}

    TenantKeys(BlockFile file, Superblock superblock, WrappingKeys wrapping,
            SecureRandom random) {
        this.file = file;
        this.superblock = superblock;
        this.wrapping = wrapping;
        this.random = random;
    }

    @Nullable
    SecretKey find(TenantId tenant) {
        TenantKey found = keys.get(tenant);
        return found == null ? null : found.key();
    }

    /**
     * Returns the tenant's key; null if there are too many. Throws {@link OsException} if a new one
     * could not be written.
     *
     * @param used whether a tenant's key is still needed
     */
    @Nullable
    SecretKey findOrMake(TenantId tenant, Predicate<TenantId> used) {
        SecretKey found = find(tenant);
        if (found != null) {
            return found;
        }
        Map<TenantId, TenantKey> more = new LinkedHashMap<>(keys);
        if (more.size() >= MOST) {
            more.keySet().removeIf(each -> !used.test(each));
        }
        if (more.size() >= MOST) {
            return null;
        }
        byte[] secret = new byte[KEY_BYTES];
        random.nextBytes(secret);
        SecretKey made = new SecretKeySpec(secret, "AES");
        more.put(tenant, new TenantKey(made, wrapping.wrap(secret, place(tenant))));
        write(more);
        keys.keySet().retainAll(more.keySet());
        keys.putAll(more);
        return made;
    }

    /** Erases a tenant's key, in memory at once; on its return it is gone from the disk, too. */
    void erase(TenantId tenant) {
        keys.remove(tenant);
        for (int i = 0; i < COPIES; i++) {
            write(keys);
        }
    }

    /** Begins with no key, in place of whatever is there. */
    void create() {
        for (int i = 0; i < COPIES; i++) {
            write(Map.of());
        }
    }

    /** Reads the younger copy that is whole; without one there are no keys, and so no pages. */
    void read() {
        for (int copy = 0; copy < COPIES; copy++) {
            try (Mapping memory = Mapping.anonymous(COPY_BYTES)) {
                file.read(memory.segment(), at(copy));
                decode(memory.segment().asByteBuffer().order(ByteOrder.LITTLE_ENDIAN));
            }
        }
    }

    /** Wraps all keys by the first of the keys from outside. */
    void wrapAnew() {
        Map<TenantId, TenantKey> anew = new LinkedHashMap<>();
        keys.forEach((tenant, key) -> anew.put(tenant, new TenantKey(key.key(),
                wrapping.wrap(key.key().getEncoded(), place(tenant)))));
        for (int i = 0; i < COPIES; i++) {
            write(anew);
        }
        keys.putAll(anew);
    }

    private static long at(int copy) {
        return DiskLayout.KEYS_AT + (long) copy * COPY_BYTES;
    }

    private byte[] place(TenantId tenant) {
        return ByteBuffer.allocate(4 * Long.BYTES)
                .putLong(superblock.volume().high())
                .putLong(superblock.volume().low())
                .putLong(tenant.high())
                .putLong(tenant.low())
                .array();
    }

    /** Writes the older copy: the other one stays until this one is whole. */
    private void write(Map<TenantId, TenantKey> wanted) {
        long next = generation + 1;
        try (Mapping memory = Mapping.anonymous(COPY_BYTES)) {
            ByteBuffer out = memory.segment().asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
            out.putLong(MAGIC).putInt(Superblock.FORMAT).putInt(0);
            out.putLong(superblock.volume().high()).putLong(superblock.volume().low());
            out.putLong(next).putInt(wanted.size());
            out.position(HEADER_BYTES);
            wanted.forEach((tenant, key) -> {
                out.putLong(tenant.high()).putLong(tenant.low());
                key.wrapped().write(out);
                out.putInt(0);
            });
            out.putInt(SUM_AT, sum(memory.segment()));
            file.write(memory.segment(), at((int) (next % COPIES)));
            file.sync();
        }
        // Not before: a copy whose write failed is the next to be written.
        generation = next;
    }

    private void decode(ByteBuffer in) {
        if (in.getLong(0) != MAGIC || in.getInt(8) != Superblock.FORMAT
                || in.getLong(16) != superblock.volume().high()
                || in.getLong(24) != superblock.volume().low()
                || in.getInt(SUM_AT) != sum(MemorySegment.ofBuffer(in)) || in.getInt(40) > MOST) {
            return;
        }
        long found = in.getLong(32);
        if (found <= generation) {
            return;
        }
        generation = found;
        keys.clear();
        int count = in.getInt(40);
        in.position(HEADER_BYTES);
        for (int i = 0; i < count; i++) {
            TenantId tenant = new TenantId(in.getLong(), in.getLong());
            Wrapped wrapped = Wrapped.read(in);
            int _ = in.getInt();
            byte[] secret = wrapping.unwrap(wrapped, place(tenant));
            if (secret != null) {
                keys.put(tenant, new TenantKey(new SecretKeySpec(secret, "AES"), wrapped));
            }
        }
    }

    private static int sum(MemorySegment table) {
        CRC32C crc = new CRC32C();
        crc.update(table.asSlice(0, SUM_AT).asByteBuffer());
        crc.update(new byte[Integer.BYTES]);
        crc.update(table.asSlice(SUM_AT + Integer.BYTES).asByteBuffer());
        return (int) crc.getValue();
    }
}
