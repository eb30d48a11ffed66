package io.railhead.client;

import org.jspecify.annotations.Nullable;

/**
 * A read of a range of an object into registered memory.
 *
 * @param first the offset of the range's first byte in the object
 * @param bytes the most bytes; fewer at the object's end
 * @param etag the required version; null for the current one
 * @param into the memory for the bytes
 * @param at their offset in {@code into}
 */
public record Read(ObjectName name, long first, int bytes, @Nullable String etag,
        RegisteredBuffer into, long at) {

    public Read {
        if (first < 0 || bytes < 1) {
            throw new IllegalArgumentException(
                    "a range must have a first byte >= 0 and bytes >= 1: " + first + ", " + bytes);
        }
        if (at < 0 || bytes > into.bytes() - at) {
            throw new IllegalArgumentException(bytes + " bytes at " + at
                    + " do not lie within the buffer of " + into.bytes());
        }
    }

    /** Returns a read of the current version. */
    public static Read of(ObjectName name, long first, int bytes, RegisteredBuffer into,
            long at) {
        return new Read(name, first, bytes, null, into, at);
    }

    /** Returns the same read of this version only. */
    public Read withEtag(String other) {
        return new Read(name, first, bytes, other, into, at);
    }

    PartRequest request() {
        return new PartRequest(name, first, bytes, etag, PartRequest.ANY);
    }

    Window window() {
        return new Window(into, at, bytes);
    }
}
