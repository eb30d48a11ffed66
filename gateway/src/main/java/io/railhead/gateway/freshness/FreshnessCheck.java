package io.railhead.gateway.freshness;

import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.config.Freshness;

/** Whether what is held may be served without asking, as its rule promises. */
public final class FreshnessCheck {

    private FreshnessCheck() {}

    /**
     * Whether the rule's promise holds without asking the backend.
     *
     * @param beingWritten a key that is being written is served as {@code strong}
     */
    public static boolean isFresh(Freshness freshness, ObjectMetadata held, long nowNanos,
            boolean beingWritten) {
        if (beingWritten) {
            return false;
        }
        return switch (freshness) {
            case Freshness.Strong _ -> false;
            case Freshness.Bounded(var bound) -> nowNanos - held.learntAtNanos() < bound.toNanos();
            case Freshness.Exclusive(var maxAge) ->
                nowNanos - held.learntAtNanos() < maxAge.toNanos();
            case Freshness.Immutable _ -> true;
        };
    }
}
