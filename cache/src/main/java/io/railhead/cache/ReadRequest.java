package io.railhead.cache;

import io.railhead.cache.memory.PageMemory;

/**
 * Bytes {@code [from, to)} of one version.
 *
 * @param fallback where pages come from if the cache has no room: {@code CACHE} for nowhere (the
 *            reader fails with NO_MEMORY), {@code RESERVE} for the reserve
 * @param tenant the tenant that pages are fetched for; "" for none
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
