package io.railhead.gateway.fill;

import io.railhead.cache.ObjectVersion;
import io.railhead.cache.PageSource;
import io.railhead.cache.WholeChecksum;

/**
 * A source of one version's bytes with their expected checksum. The checksum was read when the read
 * was planned: the cache may have evicted its metadata since.
 */
public record VerifiedSource(PageSource source, WholeChecksum whole) implements PageSource {

    @Override
    public void fetch(ObjectVersion version, long offset, long length, Sink sink) {
        source.fetch(version, offset, length, sink);
    }

    @Override
    public WholeChecksum checksum(ObjectVersion version) {
        return whole;
    }
}
