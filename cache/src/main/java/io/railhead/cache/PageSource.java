package io.railhead.cache;

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

        /** Copies the remaining bytes into a page: the one copy on the way. */
        void write(ByteBuffer bytes);

        void complete();

        void fail(FillException cause);
    }
}
