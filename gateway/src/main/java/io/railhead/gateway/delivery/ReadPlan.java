package io.railhead.gateway.delivery;

import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.request.ByteRange;
import org.jspecify.annotations.Nullable;

/**
 * The plan of a read: the version, the range, and the response's head.
 *
 * @param from first byte
 * @param to one past the last
 * @param status 200, or 206 where a range was asked for or the object was clipped
 */
public record ReadPlan(ObjectMetadata metadata, long from, long to, int status) {

    /**
     * What a request names of an object, all of it without a range; null where that is no byte of
     * it.
     */
    public static @Nullable ReadPlan of(ObjectMetadata metadata, @Nullable ByteRange range) {
        long size = metadata.version().sizeBytes();
        if (range == null) {
            return new ReadPlan(metadata, 0, size, 200);
        }
        if (size == 0 && range.isSuffix() && range.last() > 0) {
            // No part of it can be named: all of it is what a shorter object's suffix is.
            return new ReadPlan(metadata, 0, 0, 200);
        }
        return range.isSatisfiable(size)
                ? new ReadPlan(metadata, range.from(size), range.to(size), 206)
                : null;
    }

    public long length() {
        return to - from;
    }

    public long sizeBytes() {
        return metadata.version().sizeBytes();
    }

    /** Cut to a window of so many bytes: less than what was asked for is a partial answer. */
    public ReadPlan clippedTo(long windowBytes) {
        return length() <= windowBytes
                ? this
                : new ReadPlan(metadata, from, from + windowBytes, 206);
    }
}
