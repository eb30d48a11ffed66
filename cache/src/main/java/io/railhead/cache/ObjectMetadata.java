package io.railhead.cache;

import java.util.Map;

/**
 * The metadata of one version, as the backend sent it.
 *
 * @param headers the response's object headers (ETag, Content-Type, x-amz-meta-*, checksums, …),
 *            names in lower case, without those of one message (Content-Length, Content-Range,
 *            Date, …)
 * @param learntAtNanos when the request that returned it was sent, on the cache's clock
 * @param generation the key's write epoch at that time: see {@link Writes}
 */
public record ObjectMetadata(ObjectVersion version, Map<String, String> headers, long learntAtNanos,
        long generation) {

    public ObjectMetadata {
        headers = FlatMap.copyOf(headers);
    }
}
