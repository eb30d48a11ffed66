package io.railhead.gateway.trust;

import org.jspecify.annotations.Nullable;

/**
 * What a key was from a moment on, until the next one of its history.
 *
 * @param content null where the key was deleted
 * @param etag its name at the store; empty where the key was deleted
 * @param mark metadata of its own, so that versions of one content can be told apart
 * @param fromNanos when the store had it, by the bench's clock
 * @param behind whether it was written past the gateway
 */
public record Version(@Nullable Content content, String etag, long mark, long fromNanos,
        boolean behind) {
    static final Version ABSENT = new Version(null, "", 0, Long.MIN_VALUE, true);
}
