package io.railhead.cache;

import io.railhead.cache.memory.PageMemory;

/**
 * Bytes {@code [from, to)} of one version.
 *
 * @param fallback where pages come from when the cache has no room: {@code CACHE} means nowhere
 *            (the reader fails with NO_MEMORY), {@code RESERVE} lets this request use the reserve
 * @param tenant whom pages are fetched for, "" for nobody in particular
 */
public record ReadRequest(ObjectVersion version, long from, long to, PageMemory.Pool fallback,
        String tenant) {

    public ReadRequest(ObjectVersion version, long from, long to, PageMemory.Pool fallback) {
        this(version, from, to, fallback, "");
    }

    public ReadRequest {
        if (from < 0 || to < from || to > version.sizeBytes()) {
            throw new IllegalArgumentException(
                    "range must lie within the object: [" + from + ", " + to + ") of "
                            + version.sizeBytes());
        }
    }
}
