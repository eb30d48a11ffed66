package io.railhead.gateway.fill;

import io.railhead.cache.ObjectVersion;
import io.railhead.cache.PageSource;
import io.railhead.cache.WholeChecksum;
import org.jspecify.annotations.Nullable;

/** A source that remembers whether it was needed: then the request was no hit. Any thread. */
public final class NotedSource implements PageSource {
    private final PageSource source;
    private volatile boolean fetched;

    public NotedSource(PageSource source) {
        this.source = source;
    }

    /** Returns whether bytes were fetched, from wherever. */
    public boolean hasFetched() {
        return fetched;
    }

    @Override
    public void fetch(ObjectVersion version, long offset, long length, Sink sink) {
        fetched = true;
        source.fetch(version, offset, length, sink);
    }

    @Override
    public @Nullable WholeChecksum checksum(ObjectVersion version) {
        return source.checksum(version);
    }
}
