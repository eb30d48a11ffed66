package io.railhead.client;

import org.jspecify.annotations.Nullable;

/**
 * A range of an object that is to be delivered into registered memory.
 *
 * @param first the range's first byte in the object
 * @param bytes at most; the object may end before
 * @param etag the version that it must be of; null for whichever is current
 * @param into where its bytes go
 * @param at where they begin in {@code into}
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

    /** Of the current version. */
    public static Read of(ObjectName name, long first, int bytes, RegisteredBuffer into,
            long at) {
        return new Read(name, first, bytes, null, into, at);
    }

    /** Of this version alone. */
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
