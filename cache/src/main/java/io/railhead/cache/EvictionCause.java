package io.railhead.cache;

/** The reason why a page left the cache. */
public enum EvictionCause {
    /** It made room for another page. */
    PRESSURE,
    /** Its tenant is at its quota, and others have room. */
    QUOTA,
    /** Its object was written, deleted or replaced, or a later fill of the same page came. */
    INVALIDATED,
    /** An operator asked for it. */
    ADMIN,
    /** Its bytes had changed in memory, or are not those of the store's checksum. */
    CORRUPT
}
