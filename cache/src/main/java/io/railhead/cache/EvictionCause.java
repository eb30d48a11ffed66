package io.railhead.cache;

/** The reason why a page left the cache. */
public enum EvictionCause {
    /** The page made room for another page. */
    PRESSURE,
    /** The page's tenant is at its quota, although the cache has room. */
    QUOTA,
    /** The page's object was written, deleted or replaced, or a later fill replaced the page. */
    INVALIDATED,
    /** An operator evicted the page. */
    ADMIN,
    /** The page's bytes had changed in memory, or do not match the store's checksum. */
    CORRUPT
}
