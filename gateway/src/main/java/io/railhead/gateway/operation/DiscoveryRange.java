package io.railhead.gateway.operation;

/**
 * What the first GET of a cold object asks for: whole pages around what the client wants, not past
 * the run they lie in, so that fills which follow continue where it ends.
 */
record DiscoveryRange(long offset, long length) {

    /** @param last inclusive, {@link Long#MAX_VALUE} if open */
    static DiscoveryRange around(long first, long last, long pageBytes, long runBytes) {
        long offset = first - first % pageBytes;
        long runEnd = first - first % runBytes + runBytes;
        long wanted = last >= runEnd - 1 ? runEnd : last + 1;
        long end = (wanted + pageBytes - 1) / pageBytes * pageBytes;
        return new DiscoveryRange(offset, end - offset);
    }
}
