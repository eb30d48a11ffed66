package io.railhead.gateway.delivery;

import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.request.ByteRange;
import org.jspecify.annotations.Nullable;

/**
 * The plan of a read: the version, the range, and the response's head.
 *
 * @param from first byte
 * @param to one past the last byte
 * @param status 200; 206 if a range was requested or the object was clipped
 */
public record ReadPlan(ObjectMetadata metadata, long from, long to, int status) {

    /**
     * Plans the requested part of an object, or the whole object; null if the range has no byte of
     * it.
     */
    public static @Nullable ReadPlan of(ObjectMetadata metadata, @Nullable ByteRange range) {
        long size = metadata.version().sizeBytes();
        if (range == null) {
            return new ReadPlan(metadata, 0, size, 200);
        }
        if (size == 0 && range.isSuffix() && range.last() > 0) {
            // A suffix of an empty object is the whole object.
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

    /** Clips the plan to a window of so many bytes: less than requested is a partial response. */
    public ReadPlan clippedTo(long windowBytes) {
        return length() <= windowBytes
                ? this
                : new ReadPlan(metadata, from, from + windowBytes, 206);
    }
}
