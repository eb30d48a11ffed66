package io.railhead.gateway.freshness;

import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.config.Freshness;
import io.railhead.gateway.config.Rule;

/** Decides whether a cached object may be served without asking the store, as its rule promises. */
public final class FreshnessCheck {

    private FreshnessCheck() {}

    /**
     * Returns whether the rule allows serving without asking the backend.
     *
     * @param settled false while the key is being written, or if it was written since: then the
     *            object is served as {@code strong}
     */
    public static boolean isFresh(Rule rule, ObjectMetadata held, long nowNanos,
            boolean settled) {
        if (!settled) {
            return false;
        }
        return switch (rule.freshness()) {
            case Freshness.Strong _ -> false;
            case Freshness.Bounded(var bound) -> nowNanos - held.learntAtNanos() < bound.toNanos();
            // Writes need not report what becomes of a version that is not the current one.
            case Freshness.Exclusive(var maxAge) -> isPromised(rule, held)
                    && held.version().object().versionId() == null
                    && nowNanos - held.learntAtNanos() < maxAge.toNanos();
            case Freshness.Immutable _ -> isPromised(rule, held);
        };
    }

    /**
     * Returns whether the object was learnt under the current promise: under an earlier rule a
     * replacement was not excluded.
     */
    private static boolean isPromised(Rule rule, ObjectMetadata held) {
        return held.learntAtNanos() - rule.promisedAtNanos() >= 0;
    }
}
