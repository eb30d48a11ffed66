package io.railhead.cache;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The source of a fill's bytes: the backend, as one principal sees it. Implemented by the gateway
 * over a {@code Backend} and that principal's credential.
 */
public interface PageSource {

    /**
     * Starts one ranged GET of {@code [offset, offset + length)}, pinned to the version's ETag.
     * Returns at once; {@code sink} hears the outcome on the source's own threads.
     */
    void fetch(ObjectVersion version, long offset, long length, Sink sink);

    /**
     * What the bytes of a version must come to; null where that is not known, or not to be looked
     * at.
     */
    default @Nullable WholeChecksum checksum(ObjectVersion version) {
        return null;
    }

    /**
     * Takes bytes in order. Exactly one of {@link #complete} and {@link #fail} ends it. Calls come
     * one at a time, from the source's thread.
     */
    interface Sink {

        /** Copies what remains of {@code bytes}: the one copy on the way into a page. */
        void write(ByteBuffer bytes);

        void complete();

        void fail(FillException cause);
    }
}
