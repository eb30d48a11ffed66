package io.railhead.cache.disk;

import io.railhead.cache.disk.SegmentFooter.Entry;
import io.railhead.os.Mapping;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.List;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/**
 * AES-256-GCM of pages and footers, with memory for one page in both forms. One thread.
 *
 * <p> No nonce comes twice under one key: it is the epoch, the segment's sequence and the unit. The
 * epoch is raised on disk before anything is written in it. Within an epoch no sequence is used
 * twice, and a unit once in each. A tenant has a key of its own in each volume.
 */
class PageCipher implements AutoCloseable {
    static final int TAG_BYTES = 16;
    /** The unit in the nonce of a footer, which no page has. */
    static final int FOOTER = 0xffffff;
    private static final int NONCE_BYTES = 12;
    private static final int SEQUENCE_SHIFT = 24;
    private static final long MOST_SEQUENCE = (1L << 40) - 1;

    private final Cipher cipher;
    private final Mapping memory;

    /**
     * The place of something encrypted.
     *
     * @param unit in the segment; {@link #FOOTER}
     */
    record Nonce(long epoch, long sequence, int unit) {
        Nonce {
            if (epoch < 0 || epoch > 0xffffffffL || sequence < 0 || sequence > MOST_SEQUENCE
                    || unit < 0 || unit > FOOTER) {
                throw new IllegalArgumentException(
                        "does not fit a nonce: " + epoch + ", " + sequence + ", " + unit);
            }
        }

        GCMParameterSpec spec() {
            return new GCMParameterSpec(TAG_BYTES * Byte.SIZE, ByteBuffer.allocate(NONCE_BYTES)
                    .putInt((int) epoch)
                    .putLong(sequence << SEQUENCE_SHIFT | unit)
                    .array());
        }
    }

    /** The key, the place, and what the bytes are bound to. */
    static final class Context {
        private final SecretKey key;
        private final Nonce nonce;
        private final byte[] bound;

        Context(SecretKey key, Nonce nonce, byte[] bound) {
            this.key = key;
            this.nonce = nonce;
            this.bound = bound.clone();
        }

        /** Returns how a page is encrypted: its bytes are bound to its identity and length. */
        static Context ofPage(SecretKey key, long epoch, long sequence, Entry page) {
            return new Context(key, new Nonce(epoch, sequence, page.unit()),
                    ByteBuffer.allocate(2 * Long.BYTES + Integer.BYTES)
                            .putLong(page.identity().high())
                            .putLong(page.identity().low())
                            .putInt(page.length())
                            .array());
        }

        SecretKey key() {
            return key;
        }

        Nonce nonce() {
            return nonce;
        }
    }

    PageCipher(int pageBytes) {
        this.memory = Mapping.anonymous(2 * ((long) pageBytes + DiskLayout.UNIT_BYTES));
        try {
            this.cipher = Cipher.getInstance("AES/GCM/NoPadding");
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has AES-GCM", e);
        }
    }

    /** Returns the memory for an encrypted page of so many units. */
    MemorySegment encrypted(int units) {
        return memory.segment().asSlice(0, (long) units * DiskLayout.UNIT_BYTES);
    }

    /** Encrypts a page into this cipher's memory; returns whole units, with zeros at the end. */
    MemorySegment encrypt(Context context, List<MemorySegment> page) {
        ByteBuffer out = memory.segment()
                .asSlice(0, memory.segment().byteSize() / 2)
                .asByteBuffer();
        try {
            init(Cipher.ENCRYPT_MODE, context);
            for (MemorySegment part : page) {
                cipher.update(part.asByteBuffer(), out);
            }
            cipher.doFinal(ByteBuffer.allocate(0), out);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a page could not be encrypted", e);
        }
        int length = out.position();
        MemorySegment units = encrypted(DiskLayout.unitsOf(length));
        units.asSlice(length).fill((byte) 0);
        return units;
    }

    /**
     * Decrypts a page out of this cipher's memory; false if it is not what was encrypted.
     *
     * @param into holds at least the page; straight into it if it is in one piece
     */
    boolean tryDecrypt(Context context, int length, List<MemorySegment> into) {
        ByteBuffer in = memory.segment().asSlice(0, length + TAG_BYTES).asByteBuffer();
        if (into.size() == 1) {
            return tryDecrypt(context, in, into.getFirst().asSlice(0, length).asByteBuffer());
        }
        MemorySegment whole = memory.segment().asSlice(memory.segment().byteSize() / 2, length);
        if (!tryDecrypt(context, in, whole.asByteBuffer())) {
            return false;
        }
        long done = 0;
        for (MemorySegment part : into) {
            long bytes = Math.min(length - done, part.byteSize());
            MemorySegment.copy(whole, done, part, 0, bytes);
            done += bytes;
        }
        return true;
    }

    private boolean tryDecrypt(Context context, ByteBuffer in, ByteBuffer out) {
        try {
            init(Cipher.DECRYPT_MODE, context);
            cipher.doFinal(in, out);
            return true;
        } catch (AEADBadTagException e) {
            return false;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a page could not be decrypted", e);
        }
    }

    /** Returns bytes in encrypted form, with the tag at the end. */
    byte[] encrypt(Context context, byte[] plain) {
        try {
            init(Cipher.ENCRYPT_MODE, context);
            return cipher.doFinal(plain);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a footer could not be encrypted", e);
        }
    }

    /** Decrypts bytes with a tag at the end; false if they are not what was encrypted. */
    boolean tryDecrypt(Context context, byte[] encrypted, byte[] into) {
        return tryDecrypt(context, ByteBuffer.wrap(encrypted), ByteBuffer.wrap(into));
    }

    private void init(int mode, Context context) throws GeneralSecurityException {
        cipher.init(mode, context.key(), context.nonce().spec());
        cipher.updateAAD(context.bound);
    }

    @Override
    public void close() {
        memory.close();
    }
}
