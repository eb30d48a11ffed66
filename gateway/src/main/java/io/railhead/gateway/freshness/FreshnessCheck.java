package io.railhead.gateway.freshness;

import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.config.Freshness;
import io.railhead.gateway.config.Rule;

/** Decides whether a cached object may be served without asking the store, as its rule promises. */
public final class FreshnessCheck {

    private FreshnessCheck() {}

    /**
     * Whether the rule's promise holds without asking the backend.
     *
     * @param settled false while the key is being written, or if it was since: then it is served as
     *            {@code strong}
     */
    public static boolean isFresh(Rule rule, ObjectMetadata held, long nowNanos,
            boolean settled) {
        if (!settled) {
            return false;
        }
        return switch (rule.freshness()) {
            case Freshness.Strong _ -> false;
            case Freshness.Bounded(var bound) -> nowNanos - held.learntAtNanos() < bound.toNanos();
            // What becomes of a version that is not the current one no write need say.
            case Freshness.Exclusive(var maxAge) -> isPromised(rule, held)
                    && held.version().object().versionId() == null
                    && nowNanos - held.learntAtNanos() < maxAge.toNanos();
            case Freshness.Immutable _ -> isPromised(rule, held);
        };
    }

    /** Under another rule it may have been replaced, and nobody had promised otherwise. */
    private static boolean isPromised(Rule rule, ObjectMetadata held) {
        return held.learntAtNanos() - rule.promisedAtNanos() >= 0;
    }
}
