package io.railhead.cache.disk;

/** The outcome of a page that an operator wants on disk. */
public enum Kept {
    /** The disk has the page, or will write it. */
    YES,
    /** Too many pages wait to be written, or the disk is not ready: offer it again. */
    LATER,
    /** The disk is full, and its write budget of the day is used up. */
    BUDGET,
    /** The page is in memory no more, and not on disk. */
    MISSING,
    /** The disk keeps no such page: its object is too small, or another gateway owns it. */
    NEVER,
    /** The disk fails, has no room for the tenant, or the object has just changed. */
    FAILED
}
