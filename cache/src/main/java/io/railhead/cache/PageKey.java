package io.railhead.cache;

/** The key of one page of one version, whose bytes never change. */
record PageKey(ObjectVersion version, long index) {}
