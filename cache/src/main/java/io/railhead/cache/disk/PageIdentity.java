package io.railhead.cache.disk;

/** 128 bits that name one page of one version; see {@link VersionName}. */
record PageIdentity(long high, long low) {}
