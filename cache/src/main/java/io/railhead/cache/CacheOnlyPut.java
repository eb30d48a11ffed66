package io.railhead.cache;

/** The end of a put of a cache-only object. */
public sealed interface CacheOnlyPut {

    /** The object is held, and can be read from now on. */
    record Stored(ObjectMetadata metadata) implements CacheOnlyPut {}

    /** The key had the same bytes already, which stay as they are. */
    record Same(ObjectMetadata held) implements CacheOnlyPut {}

    /** The key has other bytes, which stay: keys are written once. */
    record Other(ObjectMetadata held) implements CacheOnlyPut {}

    /** There is no room and nothing that may be evicted, or too many puts are being compared. */
    record Full() implements CacheOnlyPut {}
}
