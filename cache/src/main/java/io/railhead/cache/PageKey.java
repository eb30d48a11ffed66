package io.railhead.cache;

/** One page of one version: its bytes never change. */
record PageKey(ObjectVersion version, long index) {}
