package io.railhead.cache;

import io.railhead.cache.memory.LentMemory;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The source of a fill's bytes: the backend under one principal's identity. The gateway implements
 * it over a {@code Backend} and that principal's credential.
 */
public interface PageSource {

    /**
     * Starts one ranged GET of {@code [offset, offset + length)}, pinned to the version's ETag.
     * Returns at once; {@code sink} receives the outcome on the source's own threads.
     */
    void fetch(ObjectVersion version, long offset, long length, Sink sink);

    /** Returns the expected checksum of a version; null if it is unknown or must not be checked. */
    default @Nullable WholeChecksum checksum(ObjectVersion version) {
        return null;
    }

    /**
     * Takes bytes in order. Exactly one call of {@link #complete} or {@link #fail} ends the fill.
     * Calls come one at a time, from the source's thread.
     */
    interface Sink {

        /**
         * Returns memory of a page for the next bytes: a direct buffer, from its position to its
         * limit. It stays valid until the call of {@link #landed} that fills it, or until
         * {@link #fail}.
         *
         * @return null to copy the next bytes by {@link #write}
         */
        default @Nullable ByteBuffer room() {
            return null;
        }

        /** Takes bytes that were received into the memory from {@link #room}. */
        default void landed(int bytes) {
            throw new IllegalStateException("no room was given");
        }

        /**
         * Lends the memory of the whole next page, to be filled before anything else is called but
         * {@link #renew}.
         *
         * @return null if the fill has ended, or has no such memory
         */
        default @Nullable LentMemory lend() {
            return null;
        }

        /** Takes the bytes in the memory that was lent, after the loan's end. */
        default void placed(int crc32c) {
            throw new IllegalStateException("no memory was lent");
        }

        /**
         * Notes that the next page is another gateway's own, before it is placed: this cache keeps
         * it among its guests.
         */
        default void guest() {
            // A sink that keeps nothing has no guests.
        }

        /**
         * Gives up the memory that was lent, and that is still written into. The next bytes go into
         * other memory; without any the fill fails.
         */
        default void renew() {
            throw new IllegalStateException("no memory was lent");
        }

        /** Copies the remaining bytes into a page: the one copy on the way. */
        void write(ByteBuffer bytes);

        void complete();

        void fail(FillException cause);
    }
}
