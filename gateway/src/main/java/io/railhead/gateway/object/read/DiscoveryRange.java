package io.railhead.gateway.object.read;

import io.railhead.gateway.request.ByteRange;
import org.jspecify.annotations.Nullable;

/**
 * The range of the first GET of a cold object: whole pages around the requested range, within one
 * run. Later fills continue where it ends.
 */
record DiscoveryRange(long offset, long length) {

    /**
     * Returns the range to request.
     *
     * @param wanted the client's range, not a suffix; null for the whole object
     */
    static DiscoveryRange around(@Nullable ByteRange wanted, long pageBytes, long runBytes) {
        long first = wanted == null ? 0 : wanted.first();
        long last = wanted == null ? Long.MAX_VALUE : wanted.last();
        long offset = first - first % pageBytes;
        long runEnd = first - first % runBytes + runBytes;
        long wantedEnd = last >= runEnd - 1 ? runEnd : last + 1;
        long end = (wantedEnd + pageBytes - 1) / pageBytes * pageBytes;
        return new DiscoveryRange(offset, end - offset);
    }
}
